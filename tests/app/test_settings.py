"""Where the values of settings come from."""

import os
from pathlib import Path

import pytest

from phaseline.app.settings import Settings, load_settings, raise_if_foreign, retention_ages
from phaseline.app.settings_schema import SETTINGS
from phaseline.model.problems.problem import ProblemsError


def codes(error: pytest.ExceptionInfo[ProblemsError]) -> list[str]:
    return [problem.code for problem in error.value.problems]


def test_defaults_hold_where_nothing_is_said(tmp_path: Path) -> None:
    settings = load_settings(environment={"HOME": str(tmp_path)}, folder=tmp_path)
    assert settings.store_url == f"sqlite:///{tmp_path}/.local/share/phaseline/store.db"
    assert (settings.task_retries, settings.task_retry_interval_s) == (None, None), "decision 34: the language decides"
    assert (settings.threads, settings.workers, settings.plugin_folders) == (16, 8, ())


def test_the_table_has_the_defaults_of_the_fields(tmp_path: Path) -> None:
    read, own = load_settings(environment={}, config=os.devnull, folder=tmp_path), Settings("")
    for setting in SETTINGS:
        if not setting.is_described:
            assert getattr(read, setting.field) == getattr(own, setting.field), setting.name


def test_values_written_as_variables_are_read_again(tmp_path: Path) -> None:
    for setting in SETTINGS:
        given = {setting.name: setting.example}
        settings = load_settings(environment={}, config=os.devnull, given=given, folder=tmp_path)
        assert load_settings(environment=settings.variables(), config=os.devnull, folder=tmp_path) == settings


def test_d28_a_home_that_nobody_can_look_into_holds_no_settings(tmp_path: Path) -> None:
    """As that of root, whose name sudo may leave to others; a name that is too long shuts out root, too."""
    home = tmp_path / ("x" * 300)
    assert load_settings(environment={"HOME": str(home)}, folder=tmp_path).workers > 0


def test_d28_options_win_over_environment_over_file_over_default(tmp_path: Path) -> None:
    (tmp_path / "phaseline.toml").write_text("run.task_retries = 1\nrun.workers = 2\nrun.threads = 3\n")
    settings = load_settings(
        environment={"PHASELINE_RUN_WORKERS": "20", "PHASELINE_RUN_TASK_RETRIES": "10", "HOME": str(tmp_path)},
        given={"run.task_retries": "100"},
        folder=tmp_path,
    )
    assert (settings.task_retries, settings.workers, settings.threads) == (100, 20, 3)


def test_the_file_here_hides_that_of_the_user(tmp_path: Path) -> None:
    user, here = tmp_path / "config", tmp_path / "here"
    (user / "phaseline").mkdir(parents=True)
    here.mkdir()
    (user / "phaseline" / "phaseline.toml").write_text("run.workers = 2")
    environment = {"XDG_CONFIG_HOME": str(user), "HOME": str(tmp_path)}
    assert load_settings(environment=environment, folder=here).workers == 2
    (here / "phaseline.toml").write_text("run.threads = 3")
    assert load_settings(environment=environment, folder=here).workers == 8


def test_folders_of_plugins_are_a_list_or_separated_by_colons(tmp_path: Path) -> None:
    (tmp_path / "phaseline.toml").write_text('plugins.path = ["/a", "b"]')
    assert load_settings(environment={}, folder=tmp_path).plugin_folders == ("/a", str(tmp_path / "b"))
    environment = {"PHASELINE_PLUGINS_PATH": "/c:/d"}
    assert load_settings(environment=environment, folder=tmp_path).plugin_folders == ("/c", "/d")


def test_d28_all_mistakes_are_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "phaseline.toml").write_text('[store]\nulr = "x"\n[run]\nworkers = 0\ntask_retries = "often"\n')
    with pytest.raises(ProblemsError) as error:
        load_settings(environment={}, folder=tmp_path)
    assert sorted(codes(error)) == ["PL-C001", "PL-C003", "PL-C003"]
    assert "'store.url'" in error.value.problems[0].mend


@pytest.mark.parametrize("text", ["a = ", "\xff"])
def test_a_file_that_is_no_toml_is_a_problem(tmp_path: Path, text: str) -> None:
    (tmp_path / "phaseline.toml").write_bytes(text.encode("latin-1"))
    with pytest.raises(ProblemsError) as error:
        load_settings(environment={}, folder=tmp_path)
    assert codes(error) == ["PL-C002"]


def test_a_named_file_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(ProblemsError) as error:
        load_settings(config="missing.toml", environment={}, folder=tmp_path)
    assert codes(error) == ["PL-C002"]


@pytest.mark.parametrize("text", ["-2", "x", "1.5"])
def test_retries_are_whole_numbers_from_minus_one_on(tmp_path: Path, text: str) -> None:
    with pytest.raises(ProblemsError) as error:
        load_settings(environment={"PHASELINE_RUN_TASK_RETRIES": text}, folder=tmp_path)
    assert codes(error) == ["PL-C003"]


@pytest.mark.parametrize("text", ["-1", "inf", "nan", "soon"])
def test_intervals_are_seconds(tmp_path: Path, text: str) -> None:
    with pytest.raises(ProblemsError) as error:
        load_settings(environment={"PHASELINE_RUN_TASK_RETRY_INTERVAL": text}, folder=tmp_path)
    assert codes(error) == ["PL-C003"]


def test_d28_every_setting_has_a_variable_of_its_name() -> None:
    assert SETTINGS[0].variable == "PHASELINE_STORE_URL"
    assert len({setting.variable for setting in SETTINGS}) == len(SETTINGS)


def test_b06_addresses_to_import_from_are_a_list_or_separated_by_spaces(tmp_path: Path) -> None:
    assert load_settings(environment={}, folder=tmp_path).allowed_imports == ()
    addresses = ("https://example.org/a", "http://10.0.0.5:8080")
    (tmp_path / "phaseline.toml").write_text(f"blueprints.allowed_imports = {list(addresses)!r}")
    assert load_settings(environment={}, folder=tmp_path).allowed_imports == addresses
    environment = {"PHASELINE_BLUEPRINTS_ALLOWED_IMPORTS": " ".join(addresses)}
    assert load_settings(environment=environment).allowed_imports == addresses


@pytest.mark.parametrize("text", ["example.org", "ftp://example.org", "https://", "https://[::1", "/srv"])
def test_b06_what_is_no_address_to_import_from_is_a_problem(text: str) -> None:
    with pytest.raises(ProblemsError) as error:
        load_settings(environment={"PHASELINE_BLUEPRINTS_ALLOWED_IMPORTS": text})
    assert codes(error) == ["PL-C003"]


def test_b06_rules_for_imports_are_pairs_from_the_environment_or_a_list_in_the_file(tmp_path: Path) -> None:
    rules = (("http://old/", "/srv/mirror/"), ("ns", "https://new/"))
    written = [f"{old}={new}" for old, new in rules]
    (tmp_path / "phaseline.toml").write_text(f'[blueprints]\nimport_rules = {written!r}\nimport_fallback = "no"')
    found = load_settings(environment={}, folder=tmp_path)
    assert (found.import_rules, found.import_fallback) == (rules, False)
    environment = {"PHASELINE_BLUEPRINTS_IMPORT_RULES": " ".join(written)}
    assert load_settings(environment=environment).import_rules == rules
    assert load_settings(environment=found.variables()) == load_settings(environment=found.variables(), folder=tmp_path)


def test_b06_a_rule_without_two_sides_is_refused() -> None:
    with pytest.raises(ProblemsError, match="'http://old/=' is not a value"):
        load_settings(environment={"PHASELINE_BLUEPRINTS_IMPORT_RULES": "http://old/="})


@pytest.mark.parametrize(("mode", "shown"), [(0o666, "-rw-rw-rw- (0666)"), (0o602, "-rw-----w- (0602)")])
def test_a_settings_file_that_others_may_write_is_not_used(tmp_path: Path, mode: int, shown: str) -> None:
    file = tmp_path / "phaseline.toml"
    file.write_text('[plugins]\npath = "code"\n')
    file.chmod(mode)
    with pytest.raises(ProblemsError) as error:
        load_settings(environment={"HOME": str(tmp_path)}, folder=tmp_path)
    assert codes(error) == ["PL-C004"]
    assert shown in error.value.problems[0].message
    file.chmod(0o644)
    assert load_settings(environment={"HOME": str(tmp_path)}, folder=tmp_path).plugin_folders


def test_a_settings_file_that_only_its_own_group_may_write_is_used(tmp_path: Path) -> None:
    file = tmp_path / "phaseline.toml"
    file.write_text("[run]\nthreads = 3\n")
    file.chmod(0o664)
    assert load_settings(environment={"HOME": str(tmp_path)}, folder=tmp_path).threads == 3


def test_a_settings_file_of_another_user_is_not_used(tmp_path: Path) -> None:
    file = tmp_path / "phaseline.toml"
    file.write_text("[run]\nthreads = 3\n")
    user = os.getuid()
    if user:
        user += 1  # the file of this one is foreign to that one
    else:
        os.chown(file, 12345, -1)
    with pytest.raises(ProblemsError) as error:
        raise_if_foreign(file, user)
    assert codes(error) == ["PL-C004"]
    assert f"it belongs to user {file.stat().st_uid}, its mode is -rw" in error.value.problems[0].message


@pytest.mark.parametrize(("text", "kept"), [("30d", "30d"), ("8w", "8w"), ("never", "never"), ("", "never")])
def test_retention_is_an_age_or_never(tmp_path: Path, text: str, kept: str) -> None:
    (tmp_path / "phaseline.toml").write_text(f'retention.executions = "{text}"')
    settings = load_settings(environment={"HOME": str(tmp_path)}, folder=tmp_path)
    assert settings.retention_executions == kept
    assert settings.variables()["PHASELINE_RETENTION_EXECUTIONS"] == kept
    ages = retention_ages(settings)
    assert (ages is None) == (kept == "never")
    assert ages is None or (ages.executions_ms > 0, ages.lines_ms) == (True, 0)


@pytest.mark.parametrize("text", ["30", "30 days", "-1d", "1.5h"])
def test_retention_is_no_other_text(tmp_path: Path, text: str) -> None:
    with pytest.raises(ProblemsError) as caught:
        load_settings(environment={}, config=os.devnull, given={"retention.logs": text}, folder=tmp_path)
    assert codes(caught) == ["PL-C003"]
    assert "never" in caught.value.problems[0].mend
