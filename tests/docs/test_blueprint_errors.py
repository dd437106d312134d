"""Every blueprint in the catalogue of language errors has the problem of its section, and no other."""

import re
from pathlib import Path

import pytest

from phaseline.catalog.files.blueprint_files import BlueprintFiles
from phaseline.dsl.reader import read_blueprint
from phaseline.model.problems.problem import ProblemsError

PAGE = Path(__file__).resolve().parents[2] / "docs/errors/PL-B.md"
SECTION = re.compile(r"^## (PL-B\d{3}) .*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXAMPLES = [
    (section[1], blocks)
    for section in SECTION.finditer(PAGE.read_text("utf-8"))
    if (blocks := BLOCK.findall(section[0]))
]


@pytest.mark.parametrize(("code", "blocks"), EXAMPLES, ids=[code for code, _ in EXAMPLES])
def test_example_has_the_problem_of_its_section(code: str, blocks: list[str], tmp_path: Path) -> None:
    main = tmp_path / "blueprint.yaml"
    main.write_text(blocks[0], "utf-8")
    for block in blocks[1:]:
        name = block.split("\n", 1)[0].removeprefix("# ")
        (tmp_path / name).write_text(block, "utf-8")
    try:
        found = read_blueprint(str(main), BlueprintFiles(str(main))).warnings
    except ProblemsError as error:
        found = error.problems
    assert [problem.code for problem in found] == [code]
