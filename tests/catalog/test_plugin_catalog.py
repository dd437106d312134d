"""Plugins that announce themselves by entry points are found, and imported only when they are called."""

import os
import subprocess
import sys
from pathlib import Path

CHECK = """
import sys
from phaseline.catalog.plugin_catalog import PluginCatalog
from phaseline.model.deployment.code_location import CodeLocation
catalog, code = PluginCatalog(), CodeLocation("/nowhere")
declared = catalog.declare("acme.create", code)
print(declared.bulk, "acme_cloud" in sys.modules, "acme_broken" in sys.modules, "stevedore" in sys.modules)
print(catalog.load("acme.create", code)(None), "acme_broken" in sys.modules)
for name in ("acme.absent", "nobody.create", "broken.create"):
    try:
        catalog.load(name, code)
    except Exception as error:
        print(type(error).__name__)
"""


def test_an_entry_point_stands_for_a_module_and_a_broken_one_stops_nobody_else(tmp_path: Path) -> None:
    text = "from phaseline import operation\n@operation(bulk=True)\ndef create(batch): return 'made'\n"
    (tmp_path / "acme_cloud.py").write_text(text)
    (tmp_path / "acme_broken.py").write_text("raise RuntimeError('no licence')\n")
    metadata = tmp_path / "acme-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    points = "[phaseline.operations]\nacme = acme_cloud\nbroken = acme_broken\n"
    (metadata / "entry_points.txt").write_text(points)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", CHECK], env=environment, capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.splitlines() == [
        "True False False False",
        "made False",
        "AttributeError",
        "ModuleNotFoundError",
        "RuntimeError",
    ]
