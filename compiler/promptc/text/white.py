"""White space: the one definition, of blank texts, `\\s` in patterns, the ends and gaps of what is cut, and the filters that are ours
(language.md §3).

Three are in use outside: Unicode's White_Space; Python's, and so Jinja's `trim`, which has U+001C to U+001F as well; ECMA-262's `\\s`,
which has U+FEFF and neither those nor U+0085. This is all of them together, so that a text which satisfies `\\S` holds a character that
none of the three takes for white: nothing takes it for blank.
"""

WHITE = (
    "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""Every white character, in order."""

WHITE_CLASS = r"\s\ufeff"
"""The same inside the brackets of a pattern of Python's."""


def is_blank(text: str) -> bool:
    """Whether a text is empty or white space only."""
    return not text.strip(WHITE)


def join_words(text: str) -> str:
    """The text on one line: every run of white space is one space, none at the ends."""
    return " ".join((text.replace("\ufeff", " ") if "\ufeff" in text else text).split())
