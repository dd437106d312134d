"""A wheel carries what commands show: every page of the documentation, and the examples of the demonstration."""

from pathlib import Path
from zipfile import ZipFile

from hatchling.builders.wheel import WheelBuilder

ROOT = Path(__file__).resolve().parents[2]
MOST_BYTES = 2_000_000
"""Of all pages in the wheel, unpacked."""


def test_a_wheel_has_every_page_and_the_examples(tmp_path: Path) -> None:
    (file,) = WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    with ZipFile(file) as wheel:
        sizes = {entry.filename: entry.file_size for entry in wheel.infolist()}
    pages = {page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs").rglob("*.md")}
    start = "phaseline/manual/"
    assert {name.removeprefix(start) for name in sizes if name.startswith(start)} == pages
    assert sum(size for name, size in sizes.items() if name.startswith(start)) < MOST_BYTES
    assert "phaseline/demo/examples/01-web/blueprint.yaml" in sizes
