"""Actions with hook classes round them while everything goes wrong: who has agreed is told once how it ended, whatever happens.

The worlds are those of ``test_lives``: calls fail, sleep, are late or lost, users cancel and retry, the process dies before and
after every commit, so also between every two calls of hooks. Each world draws its classes; installs may be taken back.
"""

from __future__ import annotations

from collections import Counter

from phaseline.model.execution.events import GraphAdded
from phaseline.model.execution.execution import Request, RetryPolicy
from phaseline.model.execution.pre_post import CLOSING, OPENING, POST, PRE, UNDO, UNDOING, PinnedHookClass, PrePost
from phaseline.model.graph.status import EntryStatus
from phaseline.model.rows.rows import ExecutionRow, GraphRow, NewExecution, Turn
from phaseline.plan.rounds.pre_post_rounds import OF_TAKING_BACK, is_of_surroundings
from phaseline.testing.simulation.world import LIMITS, USER, Life, World, let_go

SEEDS = range(24)
CALLED = (EntryStatus.COMPLETED, EntryStatus.FAILED)


class Guarded(World):
    """A world in which hook classes surround every execution."""

    def __init__(self, seed: int) -> None:
        self.around: dict[int, PrePost] = {}
        self.undone = 0
        super().__init__(seed)

    # -- users ----------------------------------------------------------------------------------------------------

    def _submit(self, life: Life) -> None:
        takes_back = life.workflow == "install" and self.dice.happens(0.3)
        request = Request(
            life.workflow, retries=RetryPolicy(2, 1.0), stop_after=self.dice.one(*LIMITS), take_back=takes_back
        )
        around = PrePost(self._classes(""), self._classes(" again") if takes_back else ())
        row = self.store.create_execution(
            NewExecution(life.deployment, request, USER, self.clock.now(), around if around.hooks else None)
        )
        self.around[row.number] = around
        life.execution, life.tries, life.wished_at, life.cleaned_at = row.id, 0, 0, 0
        self.say(f"{row.id}: a user asks for it, with {[one.name for one in around.hooks]} round it")
        self.engine.submit(row)

    def _classes(self, suffix: str) -> tuple[PinnedHookClass, ...]:
        dice = self.dice
        return tuple(
            PinnedHookClass(
                name + suffix,
                f"house:{name}",
                "CREATE",
                has_pre=dice.happens(0.8),
                has_post=dice.happens(0.8),
                critical=dice.happens(0.7),
            )
            for name in "ABCD"[: dice.one(0, 1, 2, 3, 4)]
        )

    def _after_the_end(self, life: Life, row: ExecutionRow) -> None:
        self._was_told(row, self.around[row.number].hooks, is_back=False)
        self._was_told(row, self.around[row.number].taking_back, is_back=True)
        super()._after_the_end(life, row)

    def _keeps_wish(self, turn: Turn, added: GraphAdded) -> None:
        row = next(one for one in self.store.executions() if one.number == added.execution)
        if not (is_of_surroundings(added.graph.name) or row.request.take_back):
            super()._keeps_wish(turn, added)

    # -- the promises ---------------------------------------------------------------------------------------------

    def _entries(self, row: ExecutionRow, kind: str, *, is_back: bool) -> list[tuple[str, EntryStatus]]:
        """(phase, status) of the calls in graphs of this kind, in the present action."""
        found = []
        for graph in self._of_this_action(row):
            is_of_back = OF_TAKING_BACK in graph.name
            if graph.name.startswith(kind) and is_of_back is is_back:
                statuses = self.store.statuses(graph.id).tolist()
                for step in self.store.graph(graph.id).steps:
                    if step.phase.startswith("hooks."):
                        found.append((step.phase, EntryStatus(statuses[step.first])))
        return found

    def _of_this_action(self, row: ExecutionRow) -> list[GraphRow]:
        """The graphs since a user last asked for what had ended to go on."""
        return [graph for graph in self.store.graphs(row.number) if graph.attempt >= row.request.acts_since]

    def _was_told(self, row: ExecutionRow, classes: tuple[PinnedHookClass, ...], *, is_back: bool) -> None:
        """Whose pre completed has been called once more, after or in an undo; whose pre did not complete has not."""
        pre = {phase.removeprefix(PRE): status for phase, status in self._entries(row, OPENING, is_back=is_back)}
        told = Counter(
            phase.removeprefix(POST).removeprefix(UNDO)
            for name in (CLOSING, UNDOING)
            for phase, status in self._entries(row, name, is_back=is_back)
            if status in CALLED
        )
        for one in classes:
            count = told[one.name]
            if not one.has_post:
                assert count == 0, f"{row.id}: {one.name} has no post"
            elif one.has_pre:
                owed = pre.get(one.name) is EntryStatus.COMPLETED
                assert count == owed, f"{row.id}: {one.name} agreed: {owed}, and was told {count} times how it ended"
            else:
                assert count <= 1, f"{row.id}: {one.name} was told {count} times how it ended"
        self.undone += bool(self._entries(row, UNDOING, is_back=is_back))

    def tell(self, turn: Turn) -> None:
        """Nothing of the body is called before every pre has completed."""
        super().tell(turn)
        for batch in turn.changes.opened:
            if batch.lane.phase.startswith("hooks."):
                continue
            for segment in batch.segments:
                row = next(one for one in self.store.executions() if one.number == segment.execution)
                opening = [graph for graph in self._of_this_action(row) if graph.name.startswith(OPENING)]
                if opening:
                    calls = self._entries(row, OPENING, is_back=OF_TAKING_BACK in opening[-1].name)
                    assert all(status is EntryStatus.COMPLETED for _, status in calls), f"{row.id}: {calls}"
                else:
                    assert not any(one.has_pre for one in self.around[row.number].hooks), row.id


def test_h12_h30_h31_who_has_agreed_is_told_once_how_it_ended_whatever_happens() -> None:
    crashes = undone = 0
    for seed in SEEDS:
        world = Guarded(seed)
        try:
            world.live()
            crashes, undone = crashes + world.story.crashes, undone + world.undone
        except AssertionError as error:
            raise AssertionError("\n".join([f"seed {seed}: {error}", *world.story.lines[-60:]])) from error
        finally:
            let_go(world.engine, world, world.store)
    assert crashes > len(SEEDS), "worlds in which nothing happens prove nothing"
    assert undone, "nobody was ever undone"
