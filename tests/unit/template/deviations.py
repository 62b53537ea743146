"""Where promptc differs from Jinja on purpose: the closed list of docs/reference/templates.md, each with a rule that recognises it."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from unicodedata import normalize

from tests.unit.template.oracle import Outcome, ask_jinja, ask_promptc

_PARTS = re.compile(r"\.(?:real|imag|name|arguments)\b")


@dataclass(frozen=True, slots=True)
class Deviation:
    """`recognises(text, names, files, Jinja's outcome, ours)` is true of every template that differs for this reason alone."""

    name: str
    recognises: Callable[[str, Mapping[str, Any], Mapping[str, str], Outcome, Outcome], bool]


def _refused(*codes: str, saying: str = "") -> Callable[..., bool]:
    """Jinja prints it, promptc refuses it with one of the codes."""

    def recognises(text: str, names: Any, files: Any, jinja: Outcome, ours: Outcome) -> bool:
        return jinja.text is not None and ours.code in codes and re.search(saying, ours.why) is not None

    return recognises


def _is_outside(text: str, names: Any, files: Any, jinja: Outcome, ours: Outcome) -> bool:
    """A construct, or `%c`, or a width of `%` that is taken from the values."""
    sign = {"PC0430": "%*", "PC0424": "%c"}.get(ours.code)
    return jinja.text is not None and (ours.code in _OUTSIDE or (sign is not None and sign in text))


_OUTSIDE = frozenset("PC0401 PC0405 PC0406 PC0407 PC0408 PC0409 PC0425".split())


def _is_escaped(text: str, names: Mapping[str, Any], files: Mapping[str, str], jinja: Outcome, ours: Outcome) -> bool:
    """Jinja prints the same as soon as its own `escape` and `tojson` forget that they have escaped."""
    return ours == ask_jinja(text, names, files, plain_escapes=True)


def _stands_as_it_is(text: str, names: Mapping[str, Any], files: Mapping[str, str], jinja: Outcome, ours: Outcome) -> bool:
    """Jinja prints the same as soon as the file's own signs are out of its way."""
    raw = {name: file if name.endswith(".j2") else f"{{% raw %}}{file}{{% endraw %}}" for name, file in files.items()}
    return raw != files and ours.text is not None and ours.text == ask_jinja(text, names, raw).text


def _is_captured_include(text: str, names: Mapping[str, Any], files: Mapping[str, str], jinja: Outcome, ours: Outcome) -> bool:
    """Jinja prints the same as soon as the include is given the context: without it, what it prints leaves the capture around it."""
    plain = text.replace("' without context", "'")
    return plain != text and ours.text is not None and ours.text == ask_jinja(plain, names, files).text


def _is_no_data(text: str, names: Any, files: Any, jinja: Outcome, ours: Outcome) -> bool:
    return jinja.text is not None and (ours.code in ("PC0411", "PC0413") or (ours.code == "PC0410" and "Undefined" in jinja.text))


def _finds_keys_only(text: str, names: Mapping[str, Any], files: Mapping[str, str], jinja: Outcome, ours: Outcome) -> bool:
    """Jinja prints the same as soon as its brackets look for no methods."""
    return ours.text is not None and ours.text == ask_jinja(text, names, files, keys_only=True).text


def _sets_a_key(text: str, names: Mapping[str, Any], files: Mapping[str, str], jinja: Outcome, ours: Outcome) -> bool:
    """A capture that is stored under a key of a mapping, which Jinja's sandbox forgets to refuse."""
    written = "".join((text, *files.values()))
    return jinja.text is not None and ours.code == "PC0414" and "only a namespace" in ours.why and _STORED.search(written) is not None


_STORED = re.compile(r"\bset\s+\w+\.[^=%]*%}")


def _is_sequence_as_json(text: str, names: Any, files: Any, jinja: Outcome, ours: Outcome) -> bool:
    return ours.text is not None and jinja.text is None and _UNWRITTEN.search(jinja.why) is not None


_UNWRITTEN = re.compile(r"type (?:range|generator|dict_\w+|list_reverseiterator) is not JSON serializable")


def _is_complex(text: str, names: Any, files: Any, jinja: Outcome, ours: Outcome) -> bool:
    return re.search(r"\dj\b", jinja.text or "") is not None and ours.text is None


def _is_signed_first(text: str, names: Mapping[str, Any], files: Mapping[str, str], jinja: Outcome, ours: Outcome) -> bool:
    """Jinja prints the same as soon as it computes no constant when it loads the template, or then prints a root of a negative number."""
    unfolded = ask_jinja(text, names, files, is_folding=False)
    return jinja.text is not None and unfolded != jinja and (ours.text == unfolded.text or _is_complex(text, names, files, unfolded, ours))


def _is_named(text: str, names: Any, files: Any, jinja: Outcome, ours: Outcome) -> bool:
    """Names that are the same to Python in its compatibility form, parts that begin with `_`, an argument `self`."""
    return ours.text is not None and jinja.text is None and (normalize("NFKC", text) != text or _UNUSUAL.search(text) is not None)


_UNUSUAL = re.compile(r"\bns\._\w*|\bself=")


def _has_part(text: str, names: Any, files: Any, jinja: Outcome, ours: Outcome) -> bool:
    return jinja.text is not None and ours.code == "PC0411" and _PARTS.search(text) is not None


DEVIATIONS = (
    Deviation("outside the subset", _is_outside),
    Deviation("arguments are of their kind", _refused("PC0424", "PC0415")),
    Deviation("limits", _refused("PC0402", "PC0403", "PC0404", "PC0417", "PC0430")),
    Deviation("methods are no values", _refused("PC0409")),
    Deviation("what is no data is not printed", _is_no_data),
    Deviation("only data has parts", _has_part),
    Deviation("brackets find keys only", _finds_keys_only),
    Deviation("only a namespace has parts that are set", _sets_a_key),
    Deviation("JSON takes every sequence", _is_sequence_as_json),
    Deviation("numbers stay finite", _refused("PC0404", "PC0416")),
    Deviation("numbers are whole or real", _is_complex),
    Deviation("the sign belongs to the constant", _is_signed_first),
    Deviation("more names may be used", _is_named),
    Deviation("keys are strings and numbers", _refused("PC0414", "PC0421", saying="cannot be a key|this `if` has no `else`")),
    Deviation("escaped text is plain", _is_escaped),
    Deviation("files that are no templates", _stands_as_it_is),
    Deviation("an include without context in a capture", _is_captured_include),
)
BY_NAME = {deviation.name: deviation for deviation in DEVIATIONS}


def compare_both(text: str, names: Mapping[str, Any], files: Mapping[str, str]) -> tuple[str, Outcome, Outcome]:
    """ "equal", "both fail", the first deviation that explains the difference, or "" when nothing does; and what either made of it."""
    jinja, ours = ask_jinja(text, names, files), ask_promptc(text, names, files)
    if jinja.text == ours.text:
        return "both fail" if jinja.text is None else "equal", jinja, ours
    found = (deviation.name for deviation in DEVIATIONS if deviation.recognises(text, names, files, jinja, ours))
    return next(found, ""), jinja, ours
