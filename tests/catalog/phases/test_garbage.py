"""Whatever lies in a folder of plugins is read to its end, quickly, and makes problems, never exceptions."""

import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.catalog.phases.plugin_files import CODE, cfg, load, write_pair

from phaseline.catalog.phases.module_source import read_source

LINES = st.sampled_from(
    [
        *("HandlesStates = Allocation", "ResourceType = Cloud.Node", "PhaseName = A", "Phase.Dependencies = A, B"),
        *("Phase = 1", "Phase.A.B = 2", "Phase.A = 1", "Phase_A = 2", "HandlesStates := x", "PhaseName = 3", "Name = "),
        *(
            "ResourceConstraint := ((",
            "ResourceConstraint = a, b",
            "Disabled = 1",
            "Phase.SleepDelay := 3",
            "'a b' = 1",
        ),
        *(
            "Version = 1, 2",
            "Dependencies = {1}",
            "ResourceStateListener = maybe",
            "ResourceStates = 1",
            "Phase.MaxBatch = -1",
        ),
        *("= 3", ":", "Phase. = 1", ".Phase = 1", '"', "Phase.BatchKey = [", "ForProvider = none, AWS", "AdType = x"),
    ]
)


@given(
    st.lists(LINES | st.text(max_size=20), max_size=12),
    st.sampled_from([CODE, "", "def handle(:", "\0", "x = (" * 300]),
)
def test_any_definition_and_any_module_end_in_problems(lines: list[str], code: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "a.cfg").write_text("\n".join(lines), "utf-8", "replace")
        Path(folder, "a.py").write_text(code)
        for problem in load(Path(folder)).problems:
            assert problem.mend


@given(st.binary(max_size=60))
def test_any_bytes_as_files(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name in ("a.cfg", "b.py", "c.rec", "d.zip"):
            Path(folder, name).write_bytes(content)
        Path(folder, "a.py").write_bytes(b"from phaseline import phase\n" + content)
        load(Path(folder))


@pytest.mark.alone
@pytest.mark.parametrize(
    "text",
    [
        "a" + " " * 200_000,
        "'" * 200_000,
        "a." * 100_000,
        "HandlesStates = " + "a," * 100_000,
        "HandlesStates = a\n" + "# x\n" * 60_000,
        cfg({"ResourceConstraint": ":= " + "(" * 100_000}),
        cfg({"ResourceConstraint": ":= " + " && ".join(["a"] * 40_000)}),
    ],
    ids=["spaces", "quotes", "dots", "names", "comments", "brackets", "terms"],
)
def test_large_definitions_take_no_time(tmp_path: Path, text: str) -> None:
    write_pair(tmp_path, "a")
    (tmp_path / "a.cfg").write_text(text)
    begun = time.process_time()
    load(tmp_path)
    assert time.process_time() - begun < 5


@pytest.mark.alone
@pytest.mark.parametrize(
    "text",
    [
        "except " * 500_000,
        " " * 3_000_000,
        "except X, e:\n" * 200_000,
        "(" * 3_000_000,
        "-" * 1_000_000 + "1",
        "a\n" * 1_000,
    ],
    ids=["except", "spaces", "old", "brackets", "signs", "names"],
)
def test_large_modules_take_no_time(text: str) -> None:
    begun = time.process_time()
    read_source(text.encode(), "a.py")
    assert time.process_time() - begun < 5


@pytest.mark.alone
def test_a_thousand_phases_are_loaded_in_seconds(tmp_path: Path) -> None:
    for number in range(1_000):
        after = f"P{number - 1}" if number % 10 else None
        write_pair(tmp_path, f"p{number}", {"PhaseName": f"P{number}", "Phase.Dependencies": after})
    begun = time.process_time()
    loaded = load(tmp_path)
    assert time.process_time() - begun < 10
    assert loaded.problems == ()
    assert len(loaded.registry.of("Allocation", "Cloud.Node")) == 1_000
