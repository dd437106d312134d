"""What the metadata of a package's folder says of its name and version."""

from pathlib import Path

import pytest

from phaseline.use_cases.lookup.announced_packages import read_identity


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("name: ntp\nversion: 1.0.2\n", ("ntp", "1.0.2")),
        ("name: ntp\n", ("ntp", "None")),
        ("- ntp\n", None),
        ("name: [\n", None),
    ],
)
def test_name_and_version_are_read_though_the_rest_may_be_wrong(
    tmp_path: Path, text: str, expected: tuple[str, str] | None
) -> None:
    (tmp_path / "metadata.yaml").write_text(text)
    assert read_identity(tmp_path) == expected


def test_a_folder_without_metadata_says_nothing(tmp_path: Path) -> None:
    assert read_identity(tmp_path) is None
