"""A plugin as its authors published it, loaded unchanged: fetched from the package registry, pinned by its hash.

It is the only distribution of a Cloudify plugin there that has its definition file in it; the others publish the file
beside the archive. Its licence does not allow us to keep a copy, so it is fetched once into ``.distributions``.
"""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.dsl.readers import whole

from phaseline.catalog.files.blueprint_files import BlueprintFiles
from phaseline.catalog.files.definition_files import read_definitions
from phaseline.catalog.files.type_catalog import TypeFiles
from phaseline.dsl.reader import read_blueprint

FETCHED = Path(__file__).resolve().parents[2] / ".distributions"
PIPS_PYTHON = str(Path(sys.base_prefix) / "bin" / "python3")
"""The interpreter from which this environment was made: uv makes environments without pip (ADR 0041)."""
NAME, VERSION = "mec-plugin-cloudify", "0.0.4"
HASH = "fa520f6ed2e359e245b835525ba132f5a2f6d23c593d534ef7ddf28cca8ccf81"
BLUEPRINT = """
imports: [cloudify/types/types.yaml, 'plugin:mec-plugin-cloudify?version=>=0.0.2']
inputs: {host: {type: string, default: 192.0.2.1}}
node_templates:
  by_name:
    type: cloudify.mec.rules.redirect_by_name
    properties: {command: redirect, registrar_host: {get_input: host}, registrar_port: '8080'}
    interfaces: {cloudify.interfaces.lifecycle: {start: {inputs: {start_retry_interval: 5}}}}
  by_traffic:
    type: cloudify.mec.rules.redirect_by_traffic
    relationships: [{type: cloudify.relationships.depends_on, target: by_name}]
"""


def fetch(folder: Path) -> Path:
    """The distribution, from the folder of those fetched before or from the registry."""
    file = FETCHED / f"{NAME}-{VERSION}.tar.gz"
    if not file.exists():
        wanted = folder / "wanted.txt"
        wanted.write_text(f"{NAME}=={VERSION} --hash=sha256:{HASH}\n")
        words = [
            "pip",
            "--disable-pip-version-check",
            "download",
            "-q",
            "--retries",
            "10",
            "--timeout",
            "60",
            "--no-deps",
            "--no-binary",
            ":all:",
        ]
        command = [PIPS_PYTHON, "-m", *words, "--require-hashes", "-d", str(FETCHED), "-r", str(wanted)]
        subprocess.run(command, check=True, capture_output=True)
    return file


@pytest.mark.slow
def test_b06_the_definition_in_a_public_distribution_is_used_unchanged(tmp_path: Path) -> None:
    types = TypeFiles(tmp_path / "types")
    (definition,) = read_definitions(fetch(tmp_path))
    assert definition.name == NAME
    types.add(definition)
    main = tmp_path / "blueprint.yaml"
    main.write_text(whole(BLUEPRINT))
    found = read_blueprint(str(main), BlueprintFiles(str(main), types_folder=str(tmp_path / "types")))
    start = found.nodes["by_name"].operations["cloudify.interfaces.lifecycle.start"]
    assert (start.plugin, start.inputs) == ("mec-plugin-cloudify", {"start_retry_interval": 5})
    assert found.warnings == ()
