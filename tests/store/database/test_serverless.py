"""A store without a server has nothing to say of one."""

from phaseline.store.database.serverless import Serverless


def test_there_are_no_findings_about_a_server() -> None:
    assert list(Serverless().server_checks()) == []
