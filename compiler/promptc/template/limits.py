"""The bounds of one template, one run, one value. All are counts, so that a pack fails at the same place on every machine."""

MAX_SOURCE = 65_536
"""Bytes (UTF-8) of one template or expression."""

MAX_FILES = 100
"""Files one template may bring in, however often each."""

MAX_TOKENS = 2_000
"""Tokens between one pair of tags, `{{ ... }}` or `{% ... %}`."""

MAX_BRACKETS = 32
"""Brackets inside brackets."""

MAX_CHAIN = 100
"""Operators, accesses and filters that hang on each other in one expression."""

MAX_BLOCKS = 16
"""Statements inside statements (`if`, `for`, `macro` ...)."""

MAX_BRANCHES = 200
"""`elif`s of one `if`."""

MAX_DIGITS = 300
"""Digits of one number in the source."""

MAX_BITS = 1_024
"""Bits of one whole number."""

MAX_RANGE = 100_000
"""Numbers in one `range`."""

MAX_STEPS = 3_000_000
"""Steps of one run: about one for each node of the template evaluated, and one for each element a filter looks at."""

MAX_TEXT = 16_000_000
"""Characters of one text a run makes, its output included."""

MAX_WIDTH = 2_000
"""Characters a filter may pad or indent by."""

MAX_DEPTH = 40
"""Macros, includes and blocks inside one another."""
