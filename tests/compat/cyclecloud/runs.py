"""Runs of phase plugins in a real executor over four resources ``vm_1`` to ``vm_4``."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.run.worlds import CREATE, Answer, LaneSpec, Policy, World, make_blueprint, plugin

from phaseline.catalog.plugin_catalog import PluginCatalog
from phaseline.model.blueprint.blueprint import Value
from phaseline.model.blueprint.operation_declaration import as_phase
from phaseline.model.deployment.code_location import CodeLocation
from phaseline.model.phases.phase_data import data_in
from phaseline.testing.builders import node

BULK = Policy(LaneSpec(CREATE, "bulk"))
EACH = Policy(LaneSpec(CREATE, "each"))
ALL = (0, 1, 2, 3)


class PhaseCatalog(PluginCatalog):
    """Takes every function for that of a phase plugin, as whoever has read its definition does."""

    def load(self, implementation: str, code: CodeLocation) -> Callable[..., object]:
        return as_phase(super().load(implementation, code))


class Runs(World):
    """``function`` of a plugin as a phase of four resources."""

    def __init__(self, folder: Path, text: str, function: str = "handle", **fields: Any) -> None:
        plugin(folder, text)
        fields.setdefault("policy", BULK)
        blueprint = make_blueprint(node("vm", create=f"cloud.{function}", instances=4))
        fields.setdefault("catalog", PhaseCatalog())
        super().__init__(folder, blueprint, **fields)

    @property
    def loaded(self):
        return self.deployments.loaded(self.deployment)

    def document(self, instance: int) -> dict[str, Value]:
        """As it is known now."""
        return dict(self.loaded.document_of(instance))

    def data(self, instance: int, phase: str = CREATE) -> dict[str, Value]:
        """What the phase keeps with a resource."""
        return dict(data_in(self.document(instance), phase))

    def edit(self, instance: int, **attributes: Value) -> None:
        """A user changes attributes."""
        self.loaded.apply(instance, {(name,): value for name, value in attributes.items()}, ())


Make = Callable[..., Runs]


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[Make]:
    made: list[Runs] = []

    def build(text: str, function: str = "handle", **fields: Any) -> Runs:
        made.append(Runs(tmp_path, text, function, **fields))
        return made[-1]

    yield build
    for world in made:
        world.close()


def messages(answer: Answer) -> dict[int, str]:
    return {member: remark.message for member, remark in answer.remarks.items()}


def words(answer: Answer) -> list[str]:
    """What came of the members, in order."""
    return [kind.name.lower() for _, kind in sorted(answer.kinds.items())]


__all__ = ["ALL", "BULK", "CREATE", "EACH", "Answer", "Make", "Runs", "messages", "runs", "words"]
