"""Values of every kind a template meets, for the comparisons with Jinja."""

from typing import Any

from hypothesis import strategies as st

from tests.unit.template.runtime.jinja_side import ABSENT, NOTHING

LETTERS = "aAbBzZ019 .,-_%<>&'\"(){}\n\t\r\u2028\x0b\x1cäÄßǆİıﬁ東👩\u200d\u0301²½"
WORDS = st.sampled_from(
    [
        "",
        " ",
        "a",
        "A",
        "abc",
        "foo bar baz qux",
        "The lamp is out. Nobody speaks.",
        "a\nb\r\nc\n\nd",
        "<b>x</b> &amp; <!-- y --> z <",
        'it\'s "q" & <a>',
        "%s-%d %%",
        "%(a)s %(b)r",
        "3.7",
        " 12 ",
        "-0x1f",
        "1_000",
        "1e3",
        "Straße ÄÖ ǆ ﬁ İı",
        "www.example.com, (http://a.b/c?d=(e)) me@here.org.",
        "hello-world [foo] (bar) {x}",
        "a,b,,c",
        "name",
    ]
)
TEXTS = st.one_of(WORDS, st.text(alphabet=LETTERS, max_size=12))
INTEGERS = st.one_of(st.integers(-12, 12), st.sampled_from([-(2**70), 2**61 - 1, 10**15, 255, 1000, 1024, 123456]))
FLOATS = st.one_of(
    st.sampled_from([0.0, -0.0, 0.5, 1.5, 2.5, -2.5, 2.567, 1e16, 1e-7, 1e300, 1000.0]), st.floats(-1e6, 1e6, allow_nan=False, width=32)
)
NUMBERS = st.one_of(INTEGERS, FLOATS, st.booleans())
SCALARS = st.one_of(st.none(), st.booleans(), INTEGERS, FLOATS, TEXTS)
KEYS = st.one_of(st.sampled_from(["a", "b", "name", "age", "B", "0", "items", "with space", ""]), TEXTS)


def _holders(parts: Any) -> Any:
    return st.one_of(st.lists(parts, max_size=4), st.lists(parts, max_size=3).map(tuple), st.dictionaries(KEYS, parts, max_size=3))


NESTED = st.recursive(SCALARS, _holders, max_leaves=8)
PEOPLE = st.lists(
    st.fixed_dictionaries(
        {"name": st.sampled_from(["Ana", "ana", "bert", "Cleo", ""]), "age": st.one_of(INTEGERS, st.none())},
        optional={"at": st.fixed_dictionaries({"town": st.sampled_from(["Ost", "ost", "West"])}), "tags": st.lists(TEXTS, max_size=2)},
    ),
    max_size=5,
)
LISTS = st.one_of(
    st.lists(NUMBERS, max_size=6),
    st.lists(TEXTS, max_size=6),
    PEOPLE,
    st.lists(NESTED, max_size=4),
    st.lists(st.lists(INTEGERS, max_size=2), max_size=4),
    st.lists(st.tuples(KEYS, SCALARS), max_size=3),
)
MAPPINGS = st.dictionaries(KEYS, NESTED, max_size=4)
RANGES = st.builds(range, st.integers(-3, 3), st.integers(-3, 6), st.sampled_from([1, 2, -1]))


def mostly(fitting: Any, other: Any) -> Any:
    """Nine times in ten what fits."""
    return st.integers(0, 9).flatmap(lambda drawn: other if drawn == 9 else fitting)


UNDEFINED = st.sampled_from([ABSENT, NOTHING])
ANY = st.one_of(SCALARS, LISTS, MAPPINGS, RANGES, UNDEFINED)
