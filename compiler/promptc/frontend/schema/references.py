"""References inside one schema file; there are no others."""

from collections.abc import Mapping
from urllib.parse import unquote

from promptc.diag.typed import Any
from promptc.frontend.schema.keywords import Schema, iter_schemas

REFERENCES = ("$ref", "$dynamicRef")


class References:
    """Finds what `#`, `#/a/pointer` and `#anchor` name. A dynamic anchor is one: with a single file there is nothing to choose from."""

    def __init__(self, root: Schema) -> None:
        self._root = root
        self._schemas = dict(iter_schemas(root))
        self._anchors: dict[str, Schema] = {}
        for schema in self._schemas.values():
            for keyword in ("$anchor", "$dynamicAnchor"):
                if isinstance(schema, dict) and isinstance(schema.get(keyword), str):
                    self._anchors[schema[keyword]] = schema
        self.inside = [schema for schema in self._schemas.values() if isinstance(schema, dict)]
        """The root and all schemas in it that are mappings of keywords."""
        self._targets = {id(target) for schema in self.inside for target in self.iter_targets(schema)}

    def find(self, reference: str) -> Schema:
        """The schema that is named, or None: it is not in this file, or is no schema."""
        if not reference.startswith("#"):
            return None
        fragment = _unquote(reference[1:]) if "%" in reference else reference[1:]
        if fragment and not fragment.startswith("/"):
            return self._anchors.get(fragment)
        return self._schemas.get(fragment)

    def is_target(self, schema: Schema) -> bool:
        """Whether a reference in the file names this very schema."""
        return id(schema) in self._targets

    def iter_targets(self, schema: Mapping[str, Any]) -> list[Schema]:
        """What a schema's own references name."""
        found = (self.find(schema[keyword]) for keyword in REFERENCES if isinstance(schema.get(keyword), str))
        return [target for target in found if target is not None]


def _unquote(fragment: str) -> str:

    return unquote(fragment)
