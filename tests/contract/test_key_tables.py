"""The pages of keys hold every key of the schemas, once, as the schemas have it."""

from collections import Counter

from tools.make_key_tables import PAGES, Tables, load_groups


def _load():
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(PAGES.glob("*.md"))}


def test_every_key_stands_in_one_table():
    stand = Counter((table.group, key) for table in Tables(_load()).tables for key in table.keys)
    keys = Counter((name, key) for name, group in load_groups().items() for key in group.properties)
    assert not keys - stand, f"docs/reference/keys: write `<!-- keys of NAME -->`, `<!-- end of keys -->` for each: {sorted(keys - stand)}"
    assert not stand - keys, f"docs/reference/keys: take out each key that stands twice or is gone: {sorted(stand - keys)}"


def test_the_tables_are_as_the_schemas_say():
    pages = _load()
    tables = Tables(pages)
    assert not [name for name, text in pages.items() if tables.fill(text) != text], "run `make keys`"


def test_every_place_of_a_key_is_told():
    assert not [name for name, group in load_groups().items() if not group.places]
