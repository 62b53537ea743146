"""Where promptc keeps what it ships: schemas and packs."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]


def find_shipped(*parts: str) -> Path:
    """The path of a shipped file or folder, such as `find_shipped("schemas", "pack.schema.json")`.

    An installed promptc has them beside its modules, a checkout two levels up. Whether the file exists is not asked.
    """
    return _data_folder().joinpath(*parts)


def _data_folder() -> Path:
    return _PACKAGE if (_PACKAGE / "schemas").is_dir() else _PACKAGE.parents[1]
