"""B41: secrets that a blueprint names are known before anything is made, wherever they stand."""

from tests.dsl.readers import read

from phaseline.dsl.deployment.secret_names import secret_names


def test_b41_secrets_are_found_wherever_they_stand() -> None:
    text = """
    inputs: {i: {default: {get_secret: in_input}}}
    node_types: {T: {derived_from: cloudify.nodes.Root, properties: {p: {default: {concat: [a, {get_secret: [in_type, x]}]}}}}}
    node_templates:
      a:
        type: T
        interfaces: {cloudify.interfaces.lifecycle: {start: {implementation: a.b, inputs: {k: [{get_secret: in_operation}]}}}}
      b: {type: T, relationships: [{type: cloudify.relationships.connected_to, target: a,
           target_interfaces: {cloudify.interfaces.relationship_lifecycle: {establish: {implementation: a.b, inputs: {k: {get_secret: in_relationship}}}}}}]}
    workflows: {w: {mapping: a.b.c, parameters: {p: {default: {get_secret: in_workflow}}}}}
    plugins: {a: {executor: central_deployment_agent, install: false}}
    outputs: {o: {value: {get_secret: {get_input: i}}}, n: {value: {get_secret: in_output}}}
    capabilities: {c: {value: {get_secret: in_capability}}}
    labels: {l: {values: [{get_secret: in_label}]}}
    resource_tags: {t: {get_secret: in_tag}}
    deployment_settings: {display_name: {get_secret: in_settings}}
    """
    places = "type operation relationship input workflow output capability label settings tag"
    assert set(secret_names(read(text))) == {f"in_{place}" for place in places.split()}
