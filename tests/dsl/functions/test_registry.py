"""What is seen at a glance of a value: whether it can be a function."""

from phaseline.dsl.functions.registry import has_none_at_all
from phaseline.dsl.functions.third_party import ANNOUNCED, AnnouncedFunction


def test_b40_a_mapping_that_is_a_function_of_others_is_not_overlooked() -> None:
    class Others:
        def names(self) -> tuple[str, ...]:
            return ("shout",)

        def load(self, name: str) -> AnnouncedFunction:
            raise AssertionError(name)

    ANNOUNCED.look_in(Others)
    assert (has_none_at_all({"shout": "a"}), has_none_at_all({"port": 80})) == (False, True)
    ANNOUNCED.look_in(None)
    assert has_none_at_all({"shout": "a"})
