"""What a template may use, and how much of it (`Limits`). Anything not listed here is refused when the template is loaded."""

from promptc.diag.frozen import frozen


@frozen
class Limits:
    """The limits on the templates of one pack. A pack may raise some of them, up to `CEILINGS`."""

    source: int = 65_536
    """Bytes (UTF-8) of one template or expression."""
    steps: int = 8_000_000
    """Steps of one render: about one per evaluated node and per element visited, and four per character of an item."""
    memory: int = 100_000_000
    """Bytes of all texts that the templates and expressions of one render produce."""
    text: int = 16_000_000
    """Characters of one text that a run produces, its output included."""
    range: int = 100_000
    """Numbers in one `range`."""
    width: int = 2_000
    """Characters that a filter may pad or indent by."""
    parts: int = 12_000
    """Tags, names, signs, numbers and texts of one template and of all the files it includes, together."""
    depth: int = 40
    """Depth of nested macro calls, includes and blocks."""
    bits: int = 1_024
    """Bits of one integer."""
    files: int = 100
    """Distinct files that one template may include."""
    tokens: int = 2_000
    """Tokens inside one tag, `{{ ... }}` or `{% ... %}`."""
    brackets: int = 32
    """Depth of nested brackets."""
    chain: int = 100
    """Operators, accesses and filters that depend on each other in one expression."""
    blocks: int = 16
    """Depth of nested statements (`if`, `for`, `macro` ...)."""
    branches: int = 200
    """`elif` branches of one `if`."""
    digits: int = 300
    """Digits of one number in the source."""


LIMITS = Limits()
CEILINGS = Limits(source=1_048_576, parts=200_000, steps=10_000_000, memory=150_000_000, text=32_000_000, range=1_000_000, width=100_000)
NODES = frozenset(
    """
    Template Output TemplateData If For CondExpr Assign AssignBlock Macro CallBlock Call Keyword Include Import FromImport Extends
    Block FilterBlock Filter Test With Scope Name NSRef Const Tuple List Dict Pair Getattr Getitem Slice Compare Operand Concat
    Add Sub Mul Div FloorDiv Mod Pow And Or Not Neg Pos
    """.split()
)
JINJA_FILTERS = frozenset(
    """
    abs batch capitalize center count d default dictsort e escape filesizeformat first float forceescape format groupby indent int
    items join last length list lower map max min pprint reject rejectattr replace reverse round safe select selectattr slice sort
    string striptags sum title tojson trim truncate unique upper urlencode urlize wordcount wordwrap xmlattr
    """.split()
)
OWN_FILTERS = frozenset(
    "truncate_at sentences_about tokens minutes_since hours_since days_since timestamp normalize one_line json mentions pick".split()
)
FILTERS = JINJA_FILTERS | OWN_FILTERS
TESTS = frozenset(
    """
    boolean callable defined divisibleby eq == equalto even false filter float ge >= gt > greaterthan in integer iterable le <=
    lessthan < lt lower mapping ne != none number odd sequence string test true undefined upper
    """.split()
)
COMPARING = {
    **dict.fromkeys(("eq", "==", "equalto"), "eq"),
    **dict.fromkeys(("ne", "!="), "ne"),
    **dict.fromkeys(("lt", "<", "lessthan"), "lt"),
    **dict.fromkeys(("le", "<="), "lteq"),
    **dict.fromkeys(("gt", ">", "greaterthan"), "gt"),
    **dict.fromkeys(("ge", ">="), "gteq"),
    "in": "in",
}
"""The tests that compare, each with Jinja's name of the operator."""
GLOBALS = frozenset("range dict namespace cycler joiner".split())
TEXT_METHODS = frozenset(
    """
    capitalize casefold center count endswith expandtabs find index isalnum isalpha isascii isdecimal isdigit islower isnumeric
    isspace istitle isupper join ljust lower lstrip partition removeprefix removesuffix replace rfind rindex rjust rpartition
    rsplit rstrip split splitlines startswith strip swapcase title upper zfill
    """.split()
)
MAPPING_METHODS = frozenset("get items keys values".split())
LIST_METHODS = frozenset("count index".split())
LOOP_METHODS = frozenset("cycle changed".split())
CYCLER_METHODS = frozenset("next reset".split())
METHODS = TEXT_METHODS | MAPPING_METHODS | LIST_METHODS | LOOP_METHODS | CYCLER_METHODS

DICT_NAMES = frozenset(name for name in dir(dict) if not name.startswith("_"))
"""Names of `dict`'s own methods: `x.items` would be the method and not the key."""
LOOP_NAMES = frozenset("index index0 revindex revindex0 first last length depth depth0 previtem nextitem".split())


@frozen
class Dialect:
    """The language of one kind of template.

    `lenient`: as in plain Jinja, an undefined value prints as nothing, is false and is empty; only reading a part of it, calling it and
    computing with it fail. Line ends and tags are then read as chat templates are elsewhere: a final line end is dropped.
    """

    nodes: frozenset[str]
    filters: frozenset[str]
    lenient: bool = False


PACK = Dialect(NODES, FILTERS)
"""The dialect of the templates and expressions of a pack."""

CHAT = Dialect(NODES | {"Break", "Continue"}, JINJA_FILTERS, lenient=True)
"""The dialect of a model's chat template."""

WHY_NOT = {
    "random": "a prompt must not depend on chance: choose by a seed, such as `state.names | pick(state.id)`",
    "attr": "write the name: `x.name` or `x['name']`",
    "lipsum": "a prompt must not depend on chance",
    "debug": "use `promptc eval` or `promptc explain` to look at the state",
    "now": "there is no clock: add `now` to the state and to its schema, and read `state.now`",
    "format": "use `~`, or the filter `format` with `%s`",
    "format_map": "use `~`, or the filter `format` with `%s`",
    "sameas": "use `==`, `is none`, `is true` or `is false`",
    "escaped": "nothing is escaped by itself: leave it out",
    "len": "write `state.facts | length`",
    "str": "write `state.score | string`, or join with `~`",
    "sorted": "write `state.facts | sort(attribute='name')`",
    "enumerate": "inside a `for`, `loop.index` counts from 1",
    "any": "write `state.facts | selectattr('known') | list`: a list that holds anything is true",
    "toUpperCase": "write `state.name | upper`",
    "toLowerCase": "write `state.name | lower`",
    "includes": "write `'x' in state.names`",
    "startsWith": "write `state.name.startswith('x')`",
    "endsWith": "write `state.name.endswith('x')`",
    **dict.fromkeys(("lines", "splitlines"), "write `state.text.splitlines()`"),
    "split": "write `state.text.split(',')`",
    "push": "a template cannot change a value: join two lists with `+`, such as `state.facts + [{'name': state.name}]`",
    "append": "a template cannot change a value: join two lists with `+`, such as `state.facts + [{'name': state.name}]`",
    "toString": "write `state.score | string`, or join with `~`",
    "stringify": "write `state.facts | tojson`",
    **{name: f"write `[state.a, state.b] | {name}`" for name in ("max", "min", "sum")},
    **{name: f"write `state.score | {name}`" for name in ("abs", "round", "int", "float")},
    "list": "write `state.facts | list`",
    "reversed": "write `state.facts | reverse | list`",
    "set": "ask `is defined`; for different elements, write `state.tags | unique | list`",
    "all": "write `not (state.facts | rejectattr('known') | list)`: an empty list is false",
    "zip": "loop over one list, and take the other's element by `loop.index0`",
    "print": "write the value alone: `{{ state.name }}`",
    "isinstance": "use a test: `state.name is string`",
    **dict.fromkeys(("null", "nil", "None", "Null"), "write `is none`"),
    **dict.fromkeys(("empty", "blank"), "write `not state.facts`: an empty list or string is false"),
    "capitalise": "write `state.name | capitalize`",
    **dict.fromkeys(("size", "length"), "write `state.facts | length`"),
    "filter": "write `state.facts | selectattr('known') | list`",
    "some": "write `state.facts | selectattr('known') | list`: a list that holds anything is true",
    "every": "write `not (state.facts | rejectattr('known') | list)`: an empty list is false",
    "map": "write `state.facts | map(attribute='name') | list`",
    "concat": "join two lists with `+`, and two strings with `~`",
    "at": "write `state.facts[-1]`",
    **dict.fromkeys(
        ("slice", "substring", "substr"),
        "write `state.text[0:80]`; to cut at the end of a word, `state.text | truncate_at('word', chars=80)`",
    ),
    "indexOf": "write `state.text.find('x')`",
    "replaceAll": "write `state.text.replace('a', 'b')`",
    "reverse": "write `state.facts | reverse | list`",
    "sort": "write `state.facts | sort(attribute='name')`",
    "dumps": "write `state.facts | tojson`",
    **dict.fromkeys(("tokens", "token_count", "count_tokens", "num_tokens"), "write `state.text | tokens`"),
    "truncate_tokens": "write `state.text | truncate_at('sentence', tokens=80)`",
}
"""What to use instead of names that Jinja, Python or JavaScript has and a pack does not."""

WHY_NOT_OF_LIST = {
    "join": "write `state.names | join(', ')`",
    "find": "ask `'x' in state.names`, or write `state.facts | selectattr('id', 'eq', 'x') | first`",
    "replace": "write `state.facts | map('replace', 'a', 'b') | list`",
}
"""What to use instead of methods that only strings have here."""

SIZES = ("length", "size", "len", "count")
"""Names by which other languages ask for the number of elements."""

FOREIGN_NAMES = {
    **dict.fromkeys(("null", "undefined", "nil", "NULL", "Null"), "write `none`"),
    **dict.fromkeys(("yes", "on", "Yes", "On", "YES", "ON"), "write `true`"),
    **dict.fromkeys(("no", "off", "No", "Off", "NO", "OFF"), "write `false`"),
    **dict.fromkeys(("TRUE", "FALSE"), "write `true` or `false`"),
    "else": "`else` is a tag: write `{% else %}`",
    "elif": "`elif` is a tag: write `{% elif … %}`",
    "endif": "`endif` is a tag: write `{% endif %}`",
    "endfor": "`endfor` is a tag: write `{% endfor %}`",
    **{role: f"a constant is in quotes inside the expression: `\"'{role}'\"`" for role in ("user", "system", "assistant", "developer")},
    "index": "inside a `for`, `loop.index` counts from 1",
}
"""What to write instead of names that mean nothing here: those of other languages, and constants without quotes."""
