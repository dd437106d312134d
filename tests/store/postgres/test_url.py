"""The URL of a store in PostgreSQL, as it is shown."""

import pytest

from phaseline.app.store_location import shown_url
from phaseline.model.problems.problem import ProblemsError
from phaseline.store.postgres.url import shown


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("postgresql://ann:hush@db.example.org:5432/shop", "postgresql://ann@db.example.org:5432/shop"),
        ("postgresql://db.example.org/shop?password=hush", "postgresql://db.example.org/shop"),
        ("postgresql:///shop?host=/run/postgresql", "postgresql://%2Frun%2Fpostgresql/shop"),
        ("postgresql://ann@one,two/shop?target_session_attrs=read-write", "postgresql://ann@one,two/shop"),
    ],
)
def test_st1_a_url_is_shown_without_its_password(url: str, text: str) -> None:
    assert shown(url) == text


@pytest.mark.parametrize("url", ["postgresql://ann:hush@host/db?no_such=1", "postgresql://[::1/db"])
def test_st1_a_url_that_cannot_be_read_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(ProblemsError) as caught:
        shown(url)
    (problem,) = caught.value.problems
    assert problem.code == "PL-S001"
    assert "hush" not in f"{problem}{problem.mend}"


def test_st1_lists_and_status_show_no_user_and_no_password() -> None:
    assert shown_url("postgresql://ann:hush@host/db?password=hush") == "postgresql://host/db"
