"""What the words about the engine, the store, records and names become."""

from pathlib import Path

import phaseline
from phaseline.client.local import LocalClient


def test_records_are_read_without_a_store(tmp_path: Path) -> None:
    (tmp_path / "nodes.rec").write_text('Name = "n1"\nAdType = "Node"\n')
    with LocalClient(None) as client:
        (done,) = client.records.format(str(tmp_path / "nodes.rec"), sort=True)
        assert done.text.index("AdType") < done.text.index("Name")
        assert [each.text for each in client.records.eval("Cores / 2", attributes={"Cores": "8"})] == ["4"]


def test_names_are_offered_of_a_store_that_is_there(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/store.db"
    with phaseline.open(url) as lab:
        assert lab.completion.names("clusters") == []
        assert not (tmp_path / "store.db").exists()
        lab.resources.apply(records=[{"AdType": "Cloud.Node", "Name": "n1"}], cluster="night")
        assert lab.completion.names("clusters", "ni") == ["night"]
        assert lab.completion.names("resources", "x") == []


def test_a_store_is_checked_and_copied(tmp_path: Path) -> None:
    with phaseline.open(f"sqlite:///{tmp_path}/store.db") as lab:
        assert lab.store.check().findings == []
        assert Path(lab.store.backup(str(tmp_path / "copy.db")).file).exists()
        assert lab.store.compact() is not None


def test_an_engine_with_nothing_to_do_leaves() -> None:
    with phaseline.open("memory:") as lab:
        begun: list[object] = []
        assert lab.engine.run(begun=begun.append).is_good
        assert len(begun) == 1
