"""What a template may use. What is not on these lists is refused when the template is loaded."""

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

OWN_FILTERS = frozenset("truncate_at tokens minutes_since hours_since days_since timestamp normalize one_line json mentions pick".split())

FILTERS = JINJA_FILTERS | OWN_FILTERS

TESTS = frozenset(
    """
    boolean callable defined divisibleby eq == equalto even false filter float ge >= gt > greaterthan in integer iterable le <=
    lessthan < lt lower mapping ne != none number odd sequence string test true undefined upper
    """.split()
)

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
"""Names a mapping already answers to: `x.items` would be the method and not the key."""

LOOP_NAMES = frozenset("index index0 revindex revindex0 first last length depth depth0 previtem nextitem".split())

WHY_NOT = {
    "random": "nothing random reaches a prompt: `pick(seed)` takes an element as a pure function of the seed",
    "attr": "write the name: `x.name` or `x['name']`",
    "lipsum": "nothing random reaches a prompt",
    "debug": "use `promptc eval` or `promptc explain` to look at the state",
    "now": "there is no clock: put the time into the state, as `state.now`",
    "format": "use `~`, or the filter `format` with `%s`",
    "format_map": "use `~`, or the filter `format` with `%s`",
    "sameas": "use `==`, `is none`, `is true` or `is false`",
    "escaped": "nothing is escaped by itself: leave it out",
}
"""What to use instead of what Jinja has and a pack has not."""
