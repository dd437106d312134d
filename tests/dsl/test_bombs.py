"""Texts that were made to fill the memory or to take for ever end with a problem, or are read, within bounds.

Each is tried in a process of its own, forked from a fresh one, so that its memory is its own.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.dsl.readers import MAIN, Texts

HEAD = "tosca_definitions_version: cloudify_dsl_1_4\nimports: [cloudify/types/types.yaml, more.yaml]\n"
MOST_BYTES, MOST_S = 150 * 1024**2, 60.0
NESTED = "outputs: {o: {value: " + "{concat: [" * 10_000 + "a" + "]}" * 10_000 + "}}"
DOUBLED = "outputs: {o: {value: {get_property: [n, p19]}}}\nnode_types: {t: {properties: {" + (
    ", ".join(f"p{number}: {{}}" for number in range(20))
    + "}}}\nnode_templates: {n: {type: t, properties: {p0: xx, "
    + ", ".join(
        f"p{number}: {{concat: [{{get_property: [SELF, p{number - 1}]}}, {{get_property: [SELF, p{number - 1}]}}]}}"
        for number in range(1, 20)
    )
    + "}}}"
)


def doubling(line: str) -> str:
    return "dsl_definitions:\n  a0: &a0 {x: 1}\n" + "".join(
        line.format(number, ",".join([f"*a{number - 1}"] * 9)) for number in range(1, 30)
    )


def json_with(value: str) -> str:
    return f'{{"tosca_definitions_version": "cloudify_dsl_1_4", "metadata": {{"a": {value}}}}}'


CONSTRAINED = "inputs: {{i: {{constraints: [{{pattern: '{}'}}]}}}}"
BOMBS: dict[str, tuple[str, str]] = {
    "aliases": (doubling("  a{0}: &a{0} [{1}]\n"), "PL-B007"),
    "merges": (doubling("  a{0}: &a{0} {{<<: [{1}]}}\n"), "PL-B007"),
    "deep_yaml": ("metadata: {a: " + "[" * 100_000, "PL-B007"),
    "deep_json": (json_with('{"a":' * 100_000 + "1" + "}" * 100_000), "PL-B007"),
    "deep_functions": (NESTED, "PL-B007"),
    "doubled_functions": (DOUBLED, "PL-B075"),
    "long_replacement": (
        f"inputs: {{i: {{default: {'a' * 10_000}}}}}\noutputs: {{o: {{value: {{string_replace: [{{get_input: i}}, a, {{get_input: i}}]}}}}}}",
        "PL-B074",
    ),
    "long_concatenation": (
        f"inputs: {{i: {{default: {'a' * 1_000_000}}}}}\noutputs: {{o: {{value: {{concat: [{', '.join(['{get_input: i}'] * 17)}]}}}}}}",
        "PL-B074",
    ),
    "long_text": (f"description: {'x' * 10_000_000}", ""),
    "many_keys": ("metadata:\n" + "".join(f"  k{number}: {number}\n" for number in range(50_000)), ""),
    "many_mistakes": ("node_templates:\n" + "".join(f"  k{number}: {{}}\n" for number in range(5_000)), "PL-B016"),
    "long_number": ("metadata: {a: " + "9" * 1_000_000 + "}", "PL-B008"),
    "long_hexadecimal": ("metadata: {a: 0x" + "f" * 1_000_000 + "}", "PL-B008"),
    "long_binary": ("metadata: {a: 0b" + "1" * 1_000_000 + "}", "PL-B008"),
    "long_octal": ("metadata: {a: 0" + "7" * 100_000 + "}", "PL-B008"),
    "long_sexagesimal": ("metadata: {a: 1" + ":10" * 100_000 + "}", "PL-B008"),
    "long_sexagesimal_fraction": ("metadata: {a: 1" + ":10" * 100_000 + ".5}", "PL-B008"),
    "long_json_number": (json_with("9" * 1_000_000), "PL-B008"),
    "backtracking": (CONSTRAINED.format("(a+)+$"), "PL-B088"),
    "many_repetitions": (CONSTRAINED.format("(a?){500}" * 150), "PL-B087"),
    "nested_repetitions": (CONSTRAINED.format("((((a{1,100}){1,100}){1,100}){1,100}){1,100}"), "PL-B087"),
    "fan_of_imports": ("", ""),
    "fan_of_namespaces": ("", "PL-B026"),
}
"""{name: (text of the main file, code of the problem that it ends with, empty: none)}"""


def files(name: str) -> Mapping[str, str]:
    text = BOMBS[name][0]
    line = {
        "fan_of_imports": "imports: [f{0}.yaml, more.yaml]",
        "fan_of_namespaces": "imports: [a--f{0}.yaml, b--f{0}.yaml]",
    }.get(name)
    fan = {f"f{number}.yaml": line.format(number + 1) for number in range(30)} if line else {}
    more = {
        "more.yaml": "imports: [f0.yaml]" if fan else "imports: [more.yaml, blueprint.yaml]",
        **fan,
        "f30.yaml": "description: x",
    }
    return {MAIN: text if text.startswith("{") else HEAD + text, **more}


def code_of(name: str) -> str:
    """What reading, completing, evaluating and writing it down again ends with."""
    from phaseline.dsl.deployment.evaluate_blueprint import with_inputs
    from phaseline.dsl.deployment.inputs import complete_inputs
    from phaseline.dsl.documents.json_codec import blueprint_to_json
    from phaseline.dsl.reader import read_blueprint
    from phaseline.model.problems.problem import ProblemsError

    try:
        blueprint = read_blueprint(MAIN, Texts(files(name)))
        given = {"i": "a" * 40 + "!"} if blueprint.inputs.get("i") and blueprint.inputs["i"].constraints else {}
        json.dumps(blueprint_to_json(with_inputs(blueprint, complete_inputs(blueprint, given))))
    except ProblemsError as error:
        return error.problems[0].code
    return ""


def peak_bytes() -> int:
    (line,) = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) * 1024


def try_all() -> None:
    """Print what each comes to, tried in a fork."""
    code_of("backtracking")
    for name in BOMBS:
        if not (child := os.fork()):
            before, began = peak_bytes(), time.process_time()
            told = [name, code_of(name), time.process_time() - began, peak_bytes() - before]
            os.write(1, json.dumps(told).encode() + b"\n")
            os._exit(0)
        os.waitpid(child, 0)


@pytest.fixture(scope="module")
def tried() -> dict[str, tuple[str, float, int]]:
    command = [sys.executable, "-c", "from tests.dsl.test_bombs import try_all; try_all()"]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return {name: (code, seconds, size) for name, code, seconds, size in rows}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_defused(name: str, tried: dict[str, tuple[str, float, int]]) -> None:
    code, seconds, size = tried[name]
    assert code == BOMBS[name][1]
    assert seconds < MOST_S
    assert size < MOST_BYTES
