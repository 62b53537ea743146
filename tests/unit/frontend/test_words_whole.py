"""No value is told from what is wanted by the same words."""

import pytest

from promptc.frontend.schema.faults import STATE_WORDS, SchemaFault


@pytest.mark.parametrize(
    ("keyword", "wanted", "value", "says"),
    [
        ("enum", [[1], [2]], [-1], "must be `[1]` or `[2]`, not `[-1]`"),
        ("enum", [{"a": 1}], {"a": 2}, 'must be `{"a": 1}`, not `{"a": 2}`'),
        ("const", [1, 2], [2, 1], "must be `[1, 2]`, not `[2, 1]`"),
        ("enum", ["a", None], [], "must be `a` or null, not an empty list"),
    ],
)
def test_a_list_beside_lists_is_shown_whole(keyword, wanted, value, says):
    assert (
        STATE_WORDS.describe(SchemaFault(keyword=keyword, wanted=wanted, value=value, schema={keyword: wanted}, path=(), branches=()))
        == says
    )
