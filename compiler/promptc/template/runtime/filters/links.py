"""The filter that marks up links."""

from promptc.diag.typed import Any

FILTERS: dict[str, Any] = {}
