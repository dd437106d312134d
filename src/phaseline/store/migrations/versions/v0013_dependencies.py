"""Migration to schema 13: records of the dependencies between deployments (rule DP5).

The table is empty at first: a deployment that was stored before gets its records with its next execution.
"""

from __future__ import annotations

from phaseline.store.migrations.statements import apply

revision = "0013"
down_revision = "0012"

_STATEMENTS = (
    """create table dependency (
        tenant text not null, deployment integer not null, position integer not null, kind text not null,
        creator text not null, function text not null, provider text not null, number integer not null,
        instance text not null, primary key (deployment, position)) without rowid""",
    "create index dependency_provider on dependency (tenant, provider, deployment)",
    "create index dependency_number on dependency (number, deployment) where number > 0",
)


def upgrade() -> None:
    """Change the tables from the schema before to this one.

    Earlier versions of the program must not write: they would store deployments without their records.
    """
    version = int(revision)
    apply(_STATEMENTS, version, min_reader=11, min_writer=version)
