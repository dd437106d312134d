"""Decision 30: what is named like a secret and is none is warned of."""

import pytest
from tests.dsl.readers import read

from phaseline.dsl.nodes.plain_secrets import looks_secret

NODE = "node_templates: {db: {type: cloudify.nodes.Root, %s}}"
OPEN = "node_types: {Db: {derived_from: cloudify.nodes.Root, properties: {password: {required: false}, conf: {required: false}}}}\n"


def warned(text: str) -> list[str]:
    """The paths of what is warned of."""
    return [warning.place.path for warning in read(text).warnings if warning.code == "PL-B128"]


@pytest.mark.parametrize(
    "name", ["password", "db_password", "adminPass", "API_KEY", "apikey", "secrets", "token2", "ns--pwd"]
)
def test_d30_names_of_secrets(name: str) -> None:
    assert looks_secret(name)


@pytest.mark.parametrize(
    "name", ["compass", "secret_name", "token_url", "password_length", "key", "key_name", "keystone", "passage"]
)
def test_d30_names_of_what_is_none(name: str) -> None:
    assert not looks_secret(name)


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        ("{}", ["inputs.password"]),
        ("{type: string, default: a}", ["inputs.password"]),
        ("{hidden: true, default: a}", []),
        ("{type: secret_key}", []),
        ("{type: boolean}", []),
    ],
)
def test_d30_a_plain_input_that_is_named_like_a_secret(declared: str, expected: list[str]) -> None:
    assert warned(f"inputs: {{password: {declared}, port: {{}}}}") == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("hunter2", True),
        ("''", False),
        ("{get_secret: a}", False),
        ("{get_input: a}", False),
        ("{concat: [a, {get_secret: a}]}", False),
        ("null", False),
    ],
)
def test_d30_a_plain_property_that_is_named_like_a_secret(value: str, *, expected: bool) -> None:
    text = f"{OPEN}inputs: {{a: {{}}}}\nnode_templates: {{db: {{type: Db, properties: {{password: {value}}}}}}}"
    assert warned(text) == ["node_templates.db.properties.password"] * expected


def test_d30_within_structures_inputs_of_operations_and_relationships() -> None:
    text = f"""{OPEN}
node_templates:
  web: {{type: cloudify.nodes.Root}}
  db:
    type: Db
    properties: {{conf: {{hosts: [{{api_key: abc, port: 80}}]}}}}
    interfaces: {{cloudify.interfaces.lifecycle: {{start: {{inputs: {{token: abc}}}}}}, own: {{set_password: ''}}}}
    relationships:
      - type: cloudify.relationships.connected_to
        target: web
        source_interfaces: {{cloudify.interfaces.relationship_lifecycle: {{establish: {{inputs: {{secret: abc}}}}}}}}
"""
    assert warned(text) == [
        "node_templates.db.properties.conf.hosts[0].api_key",
        "node_templates.db.interfaces.cloudify.interfaces.lifecycle.start.inputs.token",
        "node_templates.db.relationships[0].source_interfaces.cloudify.interfaces.relationship_lifecycle.establish.inputs.secret",
    ]


def test_d30_nothing_is_said_of_a_value() -> None:
    text = f"{OPEN}node_templates: {{db: {{type: Db, properties: {{password: hunter2}}}}}}"
    (warning,) = read(text).warnings
    assert "hunter2" not in warning.message + warning.mend
    assert warning.place.line
