"""What the words about filters, sites and environments become."""

from tests.client.recorder import Recorder


def test_lb3_words_about_filters() -> None:
    client = Recorder()
    assert client.filters.create("prod", ["env=prod"], noun="blueprints") == (
        "filters.create",
        {"name": "prod", "rules": ["env=prod"], "noun": "blueprints"},
    )
    assert client.filters.list() == ("filters.list", {"noun": None})
    assert client.filters.delete("prod") == ("filters.delete", {"name": "prod", "noun": "deployments"})


def test_lb7_words_about_environments_and_sites() -> None:
    client = Recorder()
    assert client.environments.list(filter="@eu", limit=3) == ("environments.list", {"where": "@eu", "limit": 3})
    assert client.sites.update("munich", location="1,2") == ("sites.update", {"name": "munich", "location": "1,2"})
