"""Passwords in URLs, wherever a finding shows the line that one stands in."""

import re

_MARK = "*"
# A user, a colon, and all up to the last `@` of the word, also where an author forgot the scheme; a parameter that is called so. Where a
# line was cut, its end counts as an `@`. In a sentence, `to:bob@h` is starred, too: rather that than a password that is shown.
_IN_URL = re.compile(r"(://[^\s:/@\"']*:)([^\s\"']+)(?=@)")
_WITHOUT_SCHEME = re.compile(r"((?:^|[\s\"'=])(?!mailto:)[\w.+-]+:)([^\s\"'@/]+)(?=@)")
_IN_CUT_URL = re.compile(r"(://[^\s:/@\"']*:)([^\s\"'@]+)$")
_PARAMETER = re.compile(r"([?&](?:ssl)?password=)([^\s\"'&]+)", re.IGNORECASE)
_CUT_START = re.compile(r"^()([^\s\"'@]+)(?=@)")


def hide_passwords(text: str, *, is_cut: bool = False, follows_cut: bool = False) -> str:
    """`text` with a `*` for every character of a password in a URL, so that all else stands where it stood.

    `is_cut` and `follows_cut` tell that the line goes on behind it, or began before it.
    """
    patterns = [_IN_URL, _WITHOUT_SCHEME, _PARAMETER, *([_IN_CUT_URL] if is_cut else []), *([_CUT_START] if follows_cut else [])]
    for pattern in patterns:
        text = pattern.sub(lambda found: found[1] + _MARK * len(found[2]), text)
    return text
