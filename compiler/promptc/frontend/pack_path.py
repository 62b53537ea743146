"""What a path written in a pack may look like, so that it names the same file on every machine."""

import re

_REFUSED = re.compile(r'[\x00-\x1f\x7f\ud800-\udfff\\:<>|?*"]')
_DEVICE = re.compile(r"(?i)(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?$")
_LONGEST = 400
_LONGEST_NAME = 255


def check_pack_path(relative: str) -> str:
    """Why `relative` is no plain path inside a pack, or `""` when it is one.

    Plain: names joined by `/`, without a leading `/` or `~`, `.` or `..`, and without what some file systems refuse or rename.
    """
    if not relative:
        return "the path is empty"
    if len(relative) > _LONGEST:
        return f"the path is {len(relative)} characters long; at most {_LONGEST} are read"
    wrong = _REFUSED.search(relative)
    if wrong:
        return _describe(wrong.group())
    if relative.startswith(("/", "~")):
        return "the path is not relative to the pack"
    return next(filter(None, map(_check_name, relative.split("/"))), "")


def _describe(character: str) -> str:
    if character == "\\":
        return "the path has a backslash; folders are joined by `/`"
    if character == ":":
        return "the path has a `:`, so it is a URL or a drive, or no file on some machines"
    return f"the path has the character {character!a}"


def _check_name(name: str) -> str:
    if name in ("", "."):
        return f"the path is not in its shortest form: it has {'an empty name' if not name else 'a `.`'} in it"
    if name == "..":
        return "the path leaves the pack"
    if len(name.encode()) > _LONGEST_NAME:
        return f"a name in it has more than {_LONGEST_NAME} bytes"
    if name[-1] in ". ":
        return f"the name `{name}` ends in a dot or a space, which some systems drop"
    if _DEVICE.match(name):
        return f"`{name}` is a device on some systems"
    return ""
