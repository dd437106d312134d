"""The blueprints of tests/cases/corpus: ours, in the manner of public ones, with definition files of our own to import."""

from pathlib import Path

from phaseline.catalog.files.definition_files import read_definitions
from phaseline.catalog.files.type_catalog import TypeFiles

CORPUS = Path(__file__).resolve().parents[1] / "cases" / "corpus"
DEFINITIONS = sorted((CORPUS / "definitions").iterdir())
BLUEPRINTS = sorted(CORPUS.glob("*/blueprint.yaml"))


def catalogue(folder: Path) -> str:
    """A catalogue with all definition files, in an empty folder."""
    types = TypeFiles(folder)
    for place in DEFINITIONS:
        for definition in read_definitions(place):
            types.add(definition)
    return str(folder)
