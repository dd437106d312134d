"""The registry of hook classes: found, asked, put into a total order; a bad one never stops the others (H1-H9, H38, H41)."""

import pytest

from phaseline import LifecycleHook
from phaseline.catalog.plugin_catalog import PluginCatalog
from phaseline.hooks.discovery import HEAT_GROUP, announced
from phaseline.hooks.registry import Registry, attending

RECORDING = """
class A:
    def __init__(self, ordinal=100): self.ordinal = ordinal
    def do_pre_op(self, cnxt, stack, current_stack=None, action=None): ...
    def do_post_op(self, cnxt, stack, current_stack=None, action=None, is_stack_failure=False): ...
    def get_ordinal(self): return self.ordinal
class B(A):
    def __init__(self): super().__init__(101)
"""


@pytest.fixture
def registry():
    catalog = PluginCatalog()
    return lambda **told: Registry(announced(heat=told.pop("heat", False)), catalog.load_hook, **told)


def names(found):
    return [hook.name for hook in found.hooks if not hook.fault]


def faults(found):
    return {hook.name: hook.fault for hook in found.broken}


def test_h2_the_base_class_alone_does_nothing_in_the_middle_of_the_order():
    one = LifecycleHook()
    assert one.get_ordinal() == 100
    assert one.do_pre_op(None, None, None) is None
    assert one.do_post_op(None, None, None) is None
    assert one.do_preview_op(None, None) is None


@pytest.mark.parametrize("order", ["ab", "ba"])
def test_h3_a_smaller_ordinal_comes_first_however_they_are_announced(site, registry, order):
    site.module("h3", RECORDING)
    entries = {"a": "h3:A", "b": "h3:B"}
    site.announce("acme-hooks", **{name: entries[name] for name in order})
    assert names(registry()) == ["a", "b"]


def test_h4_whole_and_broken_and_negative_ordinals_and_ties_by_name(site, registry):
    site.module(
        "h4",
        RECORDING
        + "".join(
            f"\nclass C{n}(A):\n def get_ordinal(self): return {value}"
            for n, value in enumerate(["5", "5.0", "-1", "2.5"])
        ),
    )
    site.announce("acme", zed="h4:C0", five="h4:C1", minus="h4:C2", half="h4:C3")
    assert names(registry()) == ["minus", "half", "five", "zed"]


def test_ties_of_one_name_are_by_distribution_and_both_are_called(site, registry):
    site.module("ties", RECORDING)
    site.announce("beta", same="ties:A")
    site.announce("alpha", same="ties:A")
    found = registry()
    assert [hook.entry.key for hook in found.hooks] == ["phaseline.hooks/alpha/same", "phaseline.hooks/beta/same"]
    assert found.warnings == ("2 hook classes are called 'same', and each is called: ties:A of alpha, ties:A of beta",)
    assert [hook.name for hook in attending(found.hooks, "CREATE")] == ["same", "same (beta)"]


def test_h5_who_cannot_say_its_ordinal_is_broken_and_the_others_are_sorted(site, registry):
    site.module("h5", RECORDING + "\nclass Bad(A):\n def get_ordinal(self): raise RuntimeError('no config')")
    site.announce("acme", b="h5:B", bad="h5:Bad", a="h5:A")
    found = registry()
    assert names(found) == ["a", "b"]
    assert faults(found) == {"bad": "RuntimeError: no config"}


@pytest.mark.parametrize(
    ("said", "fault"),
    [
        ("'x'", "get_ordinal returned 'x' (str), which is no number"),
        ("float('nan')", "get_ordinal returned nan, which is no finite number"),
        ("True", "get_ordinal returned True (bool), which is no number"),
        ("None", "get_ordinal returned None (NoneType), which is no number"),
        ("float('inf')", "get_ordinal returned inf, which is no finite number"),
        ("10**400", f"get_ordinal returned {10**400}, which is no finite number"),
        ("Decimal('sNaN')", "get_ordinal returned Decimal('sNaN'), which is no finite number"),
        ("numpy.bool_(1)", "get_ordinal returned np.True_ (bool), which is no number"),
        ("1j", "get_ordinal returned 1j (complex), which is no number"),
    ],
)
def test_h6_what_is_no_number_is_said(site, registry, said, fault):
    site.module("h6", f"import numpy\nfrom decimal import Decimal\nclass A:\n def get_ordinal(self): return {said}")
    site.announce("acme", a="h6:A")
    assert faults(registry()) == {"a": fault}


def test_h4_ordinals_of_other_number_types_are_sorted_among_the_others(site, registry):
    said = ["Fraction(5, 2)", "Decimal('2.25')", "numpy.int64(3)", "numpy.float64(2.75)", "numpy.float32(2.0)", "3.5"]
    text = "import numpy\nfrom decimal import Decimal\nfrom fractions import Fraction\n"
    site.module(
        "h4n", text + "\n".join(f"class C{n}:\n def get_ordinal(self): return {one}" for n, one in enumerate(said))
    )
    site.announce("acme", **{f"c{n}": f"h4n:C{n}" for n in range(len(said))})
    found = registry()
    assert names(found) == ["c4", "c1", "c0", "c3", "c2", "c5"]
    assert {type(hook.ordinal) for hook in found.hooks} <= {int, float}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("import not_there_at_all", "ModuleNotFoundError: No module named 'not_there_at_all'"),
        ("import sys; sys.exit(3)", "SystemExit: 3"),
        ("class A:\n def __init__(self): raise OSError('no licence file')", "OSError: no licence file"),
        ("class A:\n def __init__(self, needed): ...", "TypeError: A.__init__() missing 1 required positional argument: 'needed'"),
        ("A = 7", "TypeError: 'h7:A' is no class"),
        ("class Other: ...", "AttributeError: module 'h7' has no attribute 'A'"),
        ("class A:\n actions = {'CRAETE'}", "actions has 'CRAETE', which is no action"),
        ("class A:\n actions = 'CREATE'", "actions is 'CREATE', and has to be a set of names such as 'CREATE'"),
        ("class A:\n timeout = 0", "timeout is 0, and has to be a number of seconds above 0"),
        ("class A:\n critical = 'no'", "critical is 'no', and has to be True or False"),
        ("class A:\n def do_pre_op(self, cnxt): ...", "do_pre_op takes no 4 arguments by position (cnxt, stack, current_stack, action)"),
    ],
)  # fmt: skip
def test_h7_what_is_wrong_is_told_and_the_rest_works(site, registry, text, fault):
    site.module("h7", text)
    site.module("h7good", RECORDING)
    site.announce("acme", bad="h7:A", good="h7good:A")
    found = registry()
    assert names(found) == ["good"]
    assert faults(found)["bad"].startswith(fault)


def test_h8_where_nothing_is_announced_nothing_is_found(site, registry):
    site.announce("acme", "console_scripts", run="nothing:at_all")
    assert registry().hooks == ()


def test_h9_a_class_may_lack_either_method_or_both(site, registry):
    site.module(
        "h9",
        """
        class Pre:
            def do_pre_op(self, a, b, c, d): ...
        class Post:
            def do_post_op(self, a, b, c, d): ...
        class Neither: ...
        """,
    )
    site.announce("acme", pre="h9:Pre", post="h9:Post", neither="h9:Neither")
    pinned = {hook.name: (hook.has_pre, hook.has_post) for hook in attending(registry().hooks, "CREATE")}
    assert pinned == {"pre": (True, False), "post": (False, True), "neither": (False, False)}


def test_h41_a_class_is_called_for_the_actions_it_names(site, registry):
    site.module("h41", RECORDING + "\nclass C(A):\n actions = {'DELETE'}\n nested = False")
    site.announce("acme", only="h41:C")
    hooks = registry().hooks
    assert attending(hooks, "CREATE") == ()
    assert [one.action for one in attending(hooks, "DELETE")] == ["DELETE"]
    assert attending(hooks, "DELETE", depth=1) == ()


def test_h26_heats_classes_are_told_heats_words_and_of_a_restart_twice(site, registry):
    site.module("h26", RECORDING + "\nclass C(A):\n timeout = 'mine'\n actions = {}\n critical = 0")
    site.announce("acme", HEAT_GROUP, valet="h26:C")
    hooks = registry(heat=True).hooks
    told = {
        action: [one.action for one in attending(hooks, action)]
        for action in ("ABANDON", "SCALE", "RESTART", "EXECUTE_OPERATION")
    }
    assert told == {
        "ABANDON": ["DELETE"],
        "SCALE": ["UPDATE"],
        "RESTART": ["SUSPEND", "RESUME"],
        "EXECUTE_OPERATION": [],
    }
    assert len({one.name for one in attending(hooks, "RESTART")}) == 2
    assert (hooks[0].timeout_s, hooks[0].critical) == (60, True), "attributes of Heat's classes are their own affair"
    assert not registry(heat=True, heat_critical=False).hooks[0].critical


def test_what_a_rollback_calls_has_other_names_than_the_action(site, registry):
    site.module("back", RECORDING)
    site.announce("acme", a="back:A")
    hooks = registry().hooks
    called = attending(hooks, "CREATE")
    assert [(one.name, one.action) for one in attending(hooks, "ROLLBACK", besides=called)] == [
        ("a (ROLLBACK)", "ROLLBACK")
    ]


def test_17_a_momentary_class_is_asked_once_more_when_all_others_have_agreed(site, registry):
    site.module("h17", RECORDING + "\nclass M(A):\n momentary = True\n")
    site.announce("acme", a="h17:M", b="h17:B")
    asked = attending(registry().hooks, "CREATE")
    assert [(one.name, one.has_pre, one.has_post) for one in asked] == [
        ("a", True, True),
        ("b", True, True),
        ("a (at last)", True, False),
    ]
    assert asked[2].key == asked[0].key


def test_17_a_momentary_class_behind_which_nobody_comes_is_asked_once(site, registry):
    site.module("h17", RECORDING + "\nclass M(B):\n momentary = True\n")
    site.announce("acme", a="h17:A", b="h17:M")
    assert [one.name for one in attending(registry().hooks, "CREATE")] == ["a", "b"]
