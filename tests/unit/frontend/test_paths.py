"""What is shipped is found beside the modules of a wheel, and two levels up in a checkout."""

from promptc.files import paths
from promptc.files.paths import name_shipped


def test_a_checkout_has_it_two_levels_up():
    assert name_shipped("schemas", "pack.schema.json").is_file()


def test_a_wheel_has_it_beside_the_modules(tmp_path, monkeypatch):
    (tmp_path / "schemas").mkdir()
    monkeypatch.setattr(paths, "_PACKAGE", tmp_path)
    assert name_shipped("schemas", "x.json") == tmp_path / "schemas" / "x.json"
