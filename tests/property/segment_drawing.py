"""Segments as hypothesis draws them: any that can be stored."""

from hypothesis import strategies as st

from promptc.model.sources import Segment

# Control characters, line ends that are none in YAML, marks and joiners are as likely as letters.
_ODD = "\t\r\n\x01\x7f\x85\xa0\u2028\u2029\ufeff\u200d\u0301\U0001f5fa"
_CHARACTERS = st.one_of(
    st.sampled_from("ab \n-:#{}[]'\"\\|>&*!%@`~?,"),
    st.sampled_from(_ODD),
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"),
)
TEXTS = st.text(_CHARACTERS, max_size=30)
NAMES = st.one_of(
    st.sampled_from(
        ["a", "A", "b.c", "npc/mira", "true", "1", "1.0", "null", "con", "Größe", "é", "e\u0301", "日本", "~", "- x", "x: y", "#"]
    ),
    st.text(_CHARACTERS.filter(str.isprintable), min_size=1, max_size=12),
)
_SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63) + 1, 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([1e16, 1e22, -0.0, 5e-324, 1e300, 2.0**53]),
    TEXTS,
)
_VALUES = st.recursive(
    _SCALARS, lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)), max_leaves=6
)


@st.composite
def metadata(draw):
    """An object with keys in code-point order at every depth, as a store reads it."""
    drawn = draw(st.dictionaries(TEXTS, _VALUES, max_size=3))
    if draw(st.booleans()):
        drawn["key"] = draw(st.one_of(st.sampled_from(["intro", "end"]), st.integers(0, 2)))
    drawn["order"] = draw(st.one_of(st.integers(-2, 2), st.sampled_from([0.5, 1.5])))
    if draw(st.booleans()):
        del drawn["order"]
    return _in_order(drawn)


LOCALES = st.sampled_from([None, "de", "de-CH", "DE", "en", "pt-BR-x-old"])
VERSIONS = st.sampled_from([None, "1.0.0", "1.10.0", "1.9.0", "2.0.0-rc.1", "2.0.0-rc.1+b", "2.0.0"])


@st.composite
def segment(draw, ids=NAMES):
    """Any segment."""
    return Segment(
        id=draw(ids),
        scope=draw(st.one_of(st.sampled_from(["core", "npc"]), NAMES)),
        ref_id=draw(st.one_of(st.none(), st.sampled_from(["mira", "Mira", "bo"]), NAMES)),
        content=draw(TEXTS),
        metadata=draw(metadata()),
        active=draw(st.integers(0, 4)) > 0,
        locale=draw(LOCALES),
        version=draw(VERSIONS),
        priority=draw(st.integers(-(2**63) + 1, 2**63 - 1) | st.integers(-2, 2)),
    )


def segments(most=12):
    """Segments whose ids differ."""
    return st.lists(segment(), max_size=most, unique_by=lambda one: one.id)


def _in_order(value):
    if isinstance(value, dict):
        return {key: _in_order(value[key]) for key in sorted(value)}
    return [_in_order(one) for one in value] if isinstance(value, list) else value
