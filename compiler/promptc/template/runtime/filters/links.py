"""The filter that marks up links."""

FILTERS = {}
