"""What works in C is paid for before it works: so many steps for each character or element at least, and more where it takes more.

The prices were set by measuring; what is held here is that nothing large is ever free, and that a price grows as fast as the work.
"""

import pytest

from promptc.template.allow import FILTERS as FILTER_NAMES
from promptc.template.allow import TESTS as TEST_NAMES
from promptc.template.allow import Limits
from promptc.template.runtime import values
from promptc.template.runtime.callables import FUNCTIONS
from promptc.template.runtime.filters.table import call_filter, load_filter, load_test
from promptc.template.runtime.methods import METHODS, call_method
from promptc.template.runtime.objects import Fault
from promptc.template.runtime.run import NESTING, Run
from promptc.template.runtime.values import compare, show

SIZE = 5_000
ROOMY = Limits(steps=10**12, text=10**9)
PRIME = 2**61 - 1  # what Python hashes numbers by

LIST_FREE = "default d first last length count reverse items"
TEXT_FREE = f"{LIST_FREE} batch slice"
TEXT_ARGUMENTS = {
    "format": (),
    "replace": ("a", "b"),
    "batch": (3,),
    "slice": (3,),
    "mentions": ("lamp",),
    "truncate_at": ("word",),
    "sentences_about": ("lamp",),
    "pick": ("seed",),
    "map": ("upper",),
    "truncate": (SIZE - 100,),
    "wordwrap": (50,),
}
TAKES_NO_TEXT = "abs round filesizeformat minutes_since hours_since days_since timestamp"
"""Filters of numbers and times. Their work is bounded by what they accept."""

OF_LISTS = "dictsort groupby xmlattr items sum urlize tokens selectattr rejectattr"


def count_steps(work, limits=ROOMY):
    """The steps `work` pays for; what it makes lazily is asked for."""
    run = Run(None, limits)
    made = work(run)
    if hasattr(made, "__next__"):
        for _ in made:
            pass
    return limits.steps - run.left


@pytest.mark.parametrize("name", sorted(FILTER_NAMES - set(f"{TAKES_NO_TEXT} {OF_LISTS} {LIST_FREE}".split())))
@pytest.mark.parametrize("letters", ["ab ", "äß "])
def test_a_filter_pays_for_a_long_text(name, letters):
    def work(text):
        keywords = {"chars": len(text) // 2} if name == "truncate_at" else {}
        args = (len(text) - 100,) if name == "truncate" else TEXT_ARGUMENTS.get(name, ())
        try:
            return count_steps(lambda run: load_filter(name)(run, text, *args, **keywords))
        except (Fault, TypeError) as wrong:
            advice = "enter it in `TAKES_NO_TEXT` or `OF_LISTS`, or its arguments in `TEXT_ARGUMENTS`"
            pytest.fail(f"`{name}` of a text: {wrong}; {advice}", pytrace=False)

    short, long = letters * (SIZE // 3), letters * (4 * SIZE // 3)
    assert work(long) >= len(long) >> 6 or name in ("string", "safe", "map", "float"), f"`{name}` is nearly free: `run.take` more steps"
    assert work(long) >= 3 * work(short) - SIZE // 20, f"`{name}` costs a long text no more than a short one: see `LIST_FREE`"


@pytest.mark.parametrize("name", sorted(FILTER_NAMES - set(f"{TAKES_NO_TEXT} {LIST_FREE} truncate tokens".split())))
def test_a_filter_pays_for_a_long_list(name):
    args = {"groupby": ("a",), "selectattr": ("a",), "rejectattr": ("a",), "truncate_at": ("word",), **TEXT_ARGUMENTS}.get(name, ())

    def work(size):
        values = [{"a": str(number)} if name in ("groupby", "selectattr", "rejectattr") else str(number) for number in range(size)]
        if name == "sum":
            values = list(range(size))
        if name == "urlencode":
            values = [("a", number) for number in values]
        held = dict.fromkeys(values, 1) if name in ("dictsort", "xmlattr", "items") else values
        keywords = {"chars": 10} if name == "truncate_at" else {}

        def run_all(run):
            try:
                return load_filter(name)(run, held, *args, **keywords)
            except Fault as fault:
                if fault.code != "PC0414":  # the filter is one of texts only
                    raise
                run.take(size)

        return count_steps(run_all)

    assert work(4 * SIZE) >= 4 * SIZE or name in ("int", "float")
    assert work(4 * SIZE) >= 3 * work(SIZE) - SIZE // 20


@pytest.mark.parametrize("name", sorted(set(METHODS[str]) - {"startswith", "endswith", "isascii"}))
def test_a_method_pays_for_a_long_text(name):
    args = {
        **dict.fromkeys("find count rfind partition rpartition removeprefix removesuffix".split(), ("lamp",)),
        **dict.fromkeys("index rindex".split(), ("ab",)),
        **dict.fromkeys("center ljust rjust zfill".split(), (5,)),
        "replace": ("a", "b"),
        "join": (["a"] * 100,),
    }.get(name, ())

    def work(size):
        return count_steps(lambda run: call_method(run, "ab " * (size // 3), name, args, {}))

    assert work(4 * SIZE) >= 4 * SIZE >> 6
    assert work(4 * SIZE) >= 3 * work(SIZE)


@pytest.mark.parametrize("name", ["eq", "lt", "in"])
def test_comparing_pays_for_both_sides(name):
    def work(size):
        values = [[number] for number in range(size)]
        return count_steps(lambda run: compare(run, name, values, list(map(list, values))))

    assert work(4 * SIZE) >= 8 * SIZE
    assert work(4 * SIZE) >= 3 * work(SIZE)


@pytest.mark.parametrize("name", sorted(TEST_NAMES))
def test_a_test_that_looks_at_everything_pays(name):
    text = "ä" * SIZE
    args = {"divisibleby": (3,), "in": ([text] * 10,)}.get(name, (text + "b",) if name in _COMPARING else ())
    value = 3 if name in ("odd", "even", "divisibleby") else text
    paid = count_steps(lambda run: load_test(name)(run, value, *args))
    assert paid >= SIZE >> 8 or name not in (*_COMPARING, "in", "lower", "upper")


_COMPARING = "eq == equalto ne != lt < lessthan le <= gt > greaterthan ge >=".split()

SHARED = [["a" * 100] * 100] * 100
QUADRATIC = {
    "strip": lambda run, size: call_method(run, "a" * size, "strip", ("b" * size + "a",), {}),
    "trim": lambda run, size: load_filter("trim")(run, "a" * size, "b" * size + "a"),
    "rfind": lambda run, size: call_method(run, "a" * size, "rfind", ("b" + "a" * (size // 2),), {}),
    "rsplit": lambda run, size: call_method(run, "a" * size, "rsplit", ("b" + "a" * (size // 2),), {}),
    "marks in disorder": lambda run, size: load_filter("normalize")(run, "\u0301\u0316" * size),
    "numbers of one place": lambda run, size: list(load_filter("unique")(run, range(0, PRIME * size, PRIME))),
    "lists of them": lambda run, size: list(load_filter("unique")(run, [(number * PRIME,) for number in range(size)])),
    "a text in many of its length": lambda run, size: compare(run, "in", "a" * size + "b", ["a" * size + "c"] * size),
    "printing what is shared": lambda run, size: show(run, [["a" * size] * size]),
    "specs": lambda run, size: values.modulo(run, "%(a)s" * size, {"a": "x" * size}),
    "replacing": lambda run, size: load_filter("replace")(run, "a" * size, "a", "b" * size),
    "joining": lambda run, size: load_filter("join")(run, ["a"] * size, "b" * size),
}


@pytest.mark.parametrize("work", QUADRATIC.values(), ids=QUADRATIC)
def test_what_grows_with_the_square_is_paid_with_the_square(work):
    """Four times the size costs more than four times as much, by a share of the square: a large price for each character is not enough."""
    small, large = count_steps(lambda run: work(run, 800)), count_steps(lambda run: work(run, 3200))
    assert large - 4 * small >= 800 * 800 >> 8


@pytest.mark.parametrize(
    "work",
    [
        lambda run: call_filter(run, load_filter("center"), "center", "a", 2_001),
        lambda run: call_method(run, "a", "ljust", (2_001,), {}),
        lambda run: call_filter(run, load_filter("indent"), "indent", "a\nb", 2_001),
        lambda run: call_filter(run, load_filter("tojson"), "tojson", [1], 2_001),
        lambda run: values.modulo(run, "%2001d", 5),
        lambda run: values.modulo(run, "%*d", (5, 5)),
        lambda run: values.multiply(run, "a", 16_000_001),
        lambda run: values.multiply(run, [1], 16_000_001),
        lambda run: values.add(run, "a" * 9_000_000, "a" * 9_000_000),
        lambda run: FUNCTIONS["range"](run, 100_001),
        lambda run: list(load_filter("batch")(run, [1], 16_000_002, 0)),
        lambda run: list(load_filter("slice")(run, [1], 10**9)),
        lambda run: load_filter("normalize")(run, "\ufdfa" * 1_000_000),
        lambda run: load_filter("wordwrap")(run, "a" * 100_000),
    ],
)
def test_what_is_too_large_is_refused_before_it_is_made(work):
    with pytest.raises(Fault) as refused:
        work(Run(None))
    assert refused.value.code == "PC0430"


@pytest.mark.parametrize(
    "work",
    [
        lambda run: values.power(run, 2, 10**9),
        lambda run: values.power(run, 3, 700),
        lambda run: values.multiply(run, 2**600, 2**600),
        lambda run: values.add(run, 2**1024 - 1, 1),
        lambda run: values.subtract(run, -(2**1024 - 1), 1),
        lambda run: values.multiply(run, 1e300, 1e300),
        lambda run: values.power(run, -8, 0.5),
        lambda run: load_filter("int")(run, "9" * 400),
        lambda run: load_filter("int")(run, "9" * 5_000),
        lambda run: load_filter("int")(run, "f" * 5_000, 0, 16),
        lambda run: load_filter("float")(run, "1e999"),
        lambda run: load_filter("float")(run, "nan"),
        lambda run: load_filter("sum")(run, [1e308, 1e308]),
        lambda run: load_filter("sum")(run, [2**1023] * 4),
    ],
)
def test_numbers_stay_small_and_finite(work):
    with pytest.raises(Fault) as refused:
        work(Run(None))
    assert refused.value.code == "PC0416"


@pytest.mark.parametrize("key", [PRIME, -PRIME, 1e30, (1, 2), [1]])
def test_a_key_that_may_cost_too_much_is_refused(key):
    with pytest.raises(Fault) as refused:
        FUNCTIONS["dict"](Run(None), [(key, 1)])
    assert refused.value.code == "PC0414"


@pytest.mark.parametrize(
    ("work", "most"),
    [
        (show, NESTING + 1),
        (lambda run, nested: compare(run, "eq", nested, list(nested)), NESTING + 1),
        (load_filter("tojson"), NESTING + 1),
        (load_filter("json"), NESTING + 1),
        (load_filter("pprint"), 10),
    ],
    ids=["text", "==", "tojson", "json", "pprint"],
)
def test_what_nests_too_deeply_is_refused(work, most):
    work(Run(None), nest(most))
    with pytest.raises(Fault) as refused:
        work(Run(None), nest(NESTING + 2))
    assert refused.value.code == "PC0417"


def nest(levels):
    nested = []
    for _ in range(levels - 1):
        nested = [nested]
    return nested


def test_steps_do_not_depend_on_the_order_of_hashes():
    words = [f"word{number}" for number in range(500)]
    paid = {count_steps(lambda run: list(load_filter("unique")(run, words))) for _ in range(3)}
    assert len(paid) == 1
