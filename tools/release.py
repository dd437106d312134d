"""``python -m tools.release``: what a release consists of, in ``dist/``: wheel, sources, bill of materials, checksums.

Run by ``make release``, which has made the environments before.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"


def main() -> int:
    """Build everything; 0 if the bill of materials names what the lock file pins."""
    bill_program, plain_python = (Path(word) for word in sys.argv[1:])
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    shutil.rmtree(DIST, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-d", DIST], cwd=ROOT, check=True, capture_output=True)
    bill = DIST / f"phaseline-{version}.cdx.json"
    words = ["environment", "--pyproject", "pyproject.toml", "--output-reproducible", "-o", bill, plain_python]
    subprocess.run([bill_program, *words], cwd=ROOT, check=True)
    document = without_places(json.loads(bill.read_text("utf-8")))
    bill.write_text(json.dumps(document, indent=2) + "\n", "utf-8")
    missing = pinned((ROOT / "requirements-run.lock").read_text("utf-8")) - named(document)
    if missing:
        print(f"the bill of materials lacks {', '.join(sorted(missing))}: make {plain_python.parents[1]} anew")
        return 1
    files = sorted(DIST.iterdir())
    lines = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}" for file in files]
    (DIST / "SHA256SUMS").write_text("\n".join(lines) + "\n", "utf-8")
    print("\n".join(file.relative_to(ROOT).as_posix() for file in [*files, DIST / "SHA256SUMS"]))
    return 0


def without_places(document: dict[str, object]) -> dict[str, object]:
    """The document without addresses of files: they are places on the machine that built it.

    >>> without_places({"components": [{"name": "a", "externalReferences": [{"url": "file:///x"}]}]})
    {'components': [{'name': 'a', 'externalReferences': []}]}
    """

    def clean(value: object) -> object:
        if isinstance(value, dict):
            return {key: clean(below) for key, below in value.items()}
        if isinstance(value, list):
            return [
                clean(item) for item in value if not (isinstance(item, dict) and "file:" in str(item.get("url", "")))
            ]
        return value

    cleaned = clean(document)
    assert isinstance(cleaned, dict)
    return cleaned


def pinned(lock: str) -> set[str]:
    r"""{"name==version"} of a lock file.

    >>> pinned("# made\nJinja2==3.1.6 \\\n    --hash=sha256:0\n")
    {'jinja2==3.1.6'}
    """
    return {normal(found) for found in re.findall(r"^([\w.-]+==[\w.+!-]+)", lock, re.MULTILINE)}


def named(document: dict[str, object]) -> set[str]:
    """{"name==version"} of a bill of materials."""
    components = document["components"]
    assert isinstance(components, list)
    return {normal(f"{item['name']}=={item['version']}") for item in components}


def normal(pin: str) -> str:
    """With the name as registries compare it."""
    name, _, version = pin.partition("==")
    return f"{re.sub(r'[-_.]+', '-', name).lower()}=={version}"


if __name__ == "__main__":
    sys.exit(main())
