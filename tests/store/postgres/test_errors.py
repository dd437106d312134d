"""Each error of PostgreSQL becomes the Problem that says what to do."""

import psycopg
import pytest
from psycopg import errors as states

from phaseline.model.problems.codes import CODES
from phaseline.store.postgres import errors
from phaseline.store.sql.errors import Refusal


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (states.InvalidPassword, "PL-S031"),
        (states.InvalidAuthorizationSpecification, "PL-S031"),
        (states.InsufficientPrivilege, "PL-S032"),
        (states.ReadOnlySqlTransaction, "PL-S034"),
        (states.AdminShutdown, "PL-S035"),
        (states.CannotConnectNow, "PL-S035"),
        (states.ConnectionFailure, "PL-S035"),
        (states.IdleInTransactionSessionTimeout, "PL-S035"),
        (states.TooManyConnections, "PL-S036"),
        (states.DiskFull, "PL-S037"),
        (states.InvalidCatalogName, "PL-S038"),
        (states.LockNotAvailable, "PL-S005"),
        (states.QueryCanceled, "PL-S005"),
        (states.DataCorrupted, "PL-S003"),
        (states.ConfigurationLimitExceeded, "PL-S037"),
        (states.OutOfMemory, "PL-S001"),
        (states.IoError, "PL-S001"),
        (states.SerializationFailure, "PL-S001"),
    ],
)
def test_st4_an_error_has_its_code(error: type[psycopg.Error], code: str) -> None:
    (problem,) = errors.as_problem(error("told by the server"), "postgresql://host/db", is_lost=False).problems
    assert (problem.code, problem.place.subject) == (code, "postgresql://host/db")
    assert "told by the server" in problem.message or code in {"PL-S005", "PL-S034"}
    assert problem.mend


def test_st9_an_error_without_a_state_on_a_broken_connection_is_a_lost_one() -> None:
    (problem,) = errors.as_problem(psycopg.OperationalError("gone"), "x", is_lost=True).problems
    assert problem.code == "PL-S035"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('FATAL:  password authentication failed for user "ann"', "PL-S031"),
        ('FATAL:  role "ann" does not exist', "PL-S031"),
        ("FATAL:  no pg_hba.conf entry for host", "PL-S031"),
        ("fe_sendauth: no password supplied", "PL-S031"),
        ('FATAL:  database "shop" does not exist', "PL-S038"),
        ("FATAL:  sorry, too many clients already", "PL-S036"),
        ('FATAL:  permission denied for database "shop"', "PL-S032"),
        ("Connection refused", "PL-S030"),
        ("Name or service not known", "PL-S030"),
    ],
)
def test_a_connection_that_cannot_be_made_says_why(text: str, code: str) -> None:
    (problem,) = errors.cannot_connect(psycopg.OperationalError(text), "x").problems
    assert problem.code == code


@pytest.mark.parametrize("name", [name for name, row in vars(errors).items() if isinstance(row, Refusal)])
def test_every_template_gives_a_problem_with_a_known_code(name: str) -> None:
    (problem,) = getattr(errors, name)("the subject", "one", "two").problems
    assert problem.code in CODES
    assert "{" not in problem.message + problem.mend
