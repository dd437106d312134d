"""Fixtures of the language's tests."""

import pytest
from tests.dsl.corpus import catalogue


@pytest.fixture(scope="session")
def corpus_types(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of a catalogue with the definition files that the corpus imports."""
    return catalogue(tmp_path_factory.mktemp("types"))
