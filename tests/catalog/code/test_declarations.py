"""What functions say of themselves is read from text alone."""

from pathlib import Path

import pytest

from phaseline.catalog.code.declarations import DeclarationReader
from phaseline.model.blueprint.operation_declaration import LARGEST_BATCH, Declaration
from phaseline.model.deployment.code_location import CodeLocation


@pytest.fixture
def code(tmp_path: Path) -> CodeLocation:
    (tmp_path / "plugins").mkdir()
    return CodeLocation(str(tmp_path))


def write(code: CodeLocation, name: str, text: str) -> None:
    file = Path(code.blueprint_folder, "plugins", name)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def test_a_native_decorator_is_read_with_its_literals(code: CodeLocation) -> None:
    write(
        code,
        "cloud.py",
        "from phaseline import operation as op\n"
        "LIMIT = 500\n"
        "@op(bulk=True, repeatable=True, max_batch=LIMIT, batch_key='properties.region', concurrency=2)\n"
        "def create(batch): raise SystemExit('must not run')\n"
        "@op\n"
        "async def start(item): ...\n"
        "raise SystemExit('must not run')\n",
    )
    assert DeclarationReader().of("cloud.create", code) == Declaration(
        "native", bulk=True, repeatable=True, max_batch=500, batch_key="properties.region", concurrency=2
    )
    assert DeclarationReader().of("cloud.start", code) == Declaration("native")


def test_c1_a_cloudify_decorator_is_repeatable_only_when_it_says_resumable(code: CodeLocation) -> None:
    write(
        code,
        "old.py",
        "from cloudify.decorators import operation\nfrom cloudify import decorators\n"
        "@operation\ndef create(**kwargs): ...\n"
        "@operation(resumable=True)\ndef start(**kwargs): ...\n"
        "@decorators.operation(resumable=True)\ndef stop(**kwargs): ...\n"
        "def delete(**kwargs): ...\n",
    )
    declarations = DeclarationReader()
    assert declarations.of("old.create", code) == Declaration("cloudify")
    assert declarations.of("old.start", code) == Declaration("cloudify", repeatable=True)
    assert declarations.of("old.stop", code) == Declaration("cloudify", repeatable=True)
    assert declarations.of("old.delete", code) == Declaration("cloudify")


def test_a_phase_is_called_with_a_handler_or_with_a_resource_and_its_data(code: CodeLocation) -> None:
    given = "name='P', states='Allocation', resource_type='Cloud.Node'"
    write(
        code,
        "acme.py",
        f"import phaseline\nfrom phaseline import phase\n"
        f"@phase({given})\ndef create(handler): ...\n"
        f"@phaseline.phase({given})\nasync def attach(resource, data): ...\n",
    )
    declarations = DeclarationReader()
    assert declarations.of("acme.create", code) == Declaration("phase", bulk=True, repeatable=True)
    assert declarations.of("acme.attach", code) == Declaration("phase", repeatable=True)


def test_a_name_passed_on_by_a_package_is_followed(code: CodeLocation) -> None:
    write(code, "pkg/__init__.py", "from .deep.tasks import create\nfrom pkg.deep import tasks as other\n")
    write(code, "pkg/deep/__init__.py", "")
    write(code, "pkg/deep/tasks.py", "import phaseline\n@phaseline.operation(bulk=True)\ndef create(batch): ...\n")
    assert DeclarationReader().of("pkg.create", code) == Declaration("native", bulk=True)
    assert DeclarationReader().of("pkg.deep.tasks.create", code) == Declaration("native", bulk=True)


@pytest.mark.parametrize("name", ["absent.create", "cloud.absent", "create", "", "broken.create"])
def test_what_cannot_be_found_or_read_declares_nothing(code: CodeLocation, name: str) -> None:
    write(code, "cloud.py", "def create(): ...\n")
    write(code, "broken.py", "def create(:\n")
    assert DeclarationReader().of(name, code) is None


def test_a_batch_is_never_larger_than_the_limit(code: CodeLocation) -> None:
    write(code, "cloud.py", "from phaseline import operation\n@operation(max_batch=1_000_000_000)\ndef a(b): ...\n")
    found = DeclarationReader().of("cloud.a", code)
    assert found is not None
    assert found.max_batch == LARGEST_BATCH


def test_source_distributions_below_a_plugin_folder_are_searched(code: CodeLocation) -> None:
    write(code, "my-plugin/setup.py", "raise SystemExit")
    write(code, "my-plugin/my_plugin/tasks.py", "def create(): ...\n")
    assert DeclarationReader().of("my_plugin.tasks.create", code) == Declaration("cloudify")


def test_installed_modules_are_found_without_being_imported(code: CodeLocation) -> None:
    import sys

    sys.modules.pop("this", None)
    assert DeclarationReader().of("colorsys.rgb_to_hls", code) == Declaration("cloudify")
    assert DeclarationReader().of("this.nothing", code) is None
    assert "this" not in sys.modules


def test_a_function_that_is_bound_to_a_second_name_keeps_its_declaration(code: CodeLocation) -> None:
    write(
        code,
        "cloud.py",
        "from phaseline import operation\ndef plain(b): ...\nmarked = operation(bulk=True)(plain)\nagain = marked\n",
    )
    assert DeclarationReader().of("cloud.marked", code) == Declaration("native", bulk=True)
    assert DeclarationReader().of("cloud.again", code) == Declaration("native", bulk=True)
