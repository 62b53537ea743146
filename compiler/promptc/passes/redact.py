"""Redaction (contract.md §10): addresses, numbers and keys in texts are replaced by placeholders such as `[EMAIL_1]`.

`Redactions` are the placeholders of one render: equal values get equal placeholders, and the original of each is known. `restore` puts the
originals back. The finders of the built-in kinds are linear in the text: their patterns never give back a character that they matched.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from promptc.diag.findings import fail
from promptc.diag.typed import Any
from promptc.model.section import Redaction
from promptc.passes.items.media import holds_base64, is_data_url, locate_base64
from promptc.text.characters import compile_later
from promptc.text.pattern import PatternFinder

Place = tuple[int, int]
"""The start and the end of an occurrence."""

Sealed = Mapping[str, tuple[str, ...]]
"""What is left unchanged in a mapping: the texts under these keys, or those that the keys after them lead to."""

Found = Mapping[Redaction, tuple[Place, ...]]
"""Where a text has what each rule finds. Empty for a text that is left unchanged."""

_QUOTED = Redaction("QUOTED")
"""The rule of a text that already reads like a placeholder before anything is redacted."""

LONGEST_ANSWER = 8_000_000
"""The most bytes of an answer that is read."""

_PLACEHOLDER = compile_later(r"\[[A-Z][A-Z0-9_]{0,31}_[0-9]{1,9}\]")
_EMAIL = compile_later(r"(?<![\w.+%'-])([\w.+%'-]++)@([\w-]++(?:\.[\w-]++)++)")
_PHONE = compile_later(
    r"(?<![\w+])(?<![0-9][.,/-])(?!(?:0?[1-9]|[12][0-9]|3[01])([./-])(?:0?[1-9]|1[0-2])\1(?:19|20)[0-9]{2}(?![0-9]))(?:"  # not a date
    r"\+[1-9](?:[ .()/-]{0,2}[0-9]){7,14}|\(?00?[1-9](?:[ .()/-]{0,2}[0-9]){7,13}"
    r"|(?:\([2-9][0-9]{2}\) ?|[2-9][0-9]{2}[ .-])[0-9]{3}[ .-][0-9]{4})(?!\w)"
)
"""Phone numbers of at most 15 digits (ITU-T E.164). Without `+`, `0` or the North American format, any number might be one."""
_CARD = compile_later(
    r"(?<![\w+])(?<![0-9][.,/-])(?:[0-9]{13,19}|[0-9]{4}([ -])[0-9]{4}\1[0-9]{4}\1[0-9]{1,4}(?:\1[0-9]{3})?"
    r"|3[47][0-9]{2}([ -])[0-9]{6}\2[0-9]{5})(?!\w)"
)
_KEY = compile_later(
    r"(?<![A-Za-z0-9_-])(?:(?:"
    r"sk-[A-Za-z0-9_-]{20,}+|[sr]k_(?:live|test)_[A-Za-z0-9]{16,}+|A(?:KIA|SIA)[0-9A-Z]{16}|AIza[A-Za-z0-9_-]{35}"
    r"|gh[opsur]_[A-Za-z0-9]{36,}+|github_pat_[A-Za-z0-9_]{22,}+|glpat-[A-Za-z0-9_-]{20,}+|xox[abeprs]-[A-Za-z0-9-]{10,}+"
    r"|hf_[A-Za-z0-9]{30,}+|npm_[A-Za-z0-9]{36,}+|pypi-[A-Za-z0-9_-]{16,}+"
    r"|eyJ[A-Za-z0-9_-]{8,}+\.eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+)(?![A-Za-z0-9])"
    r"|-----BEGIN (?:(?:RSA|EC|DSA|OPENSSH|ENCRYPTED|PGP) )?PRIVATE KEY(?: BLOCK)?-----[^-]*+(?:-----END [^-\n]{1,40}-----)?)"
)
_TOP = compile_later(r"(?:[^\W\d_]{2,}|xn--[a-z0-9-]{2,})\Z")
_LOCAL = ".+%'-"


def _iter_emails(text: str) -> Iterator[Place]:
    if "@" not in text:
        return
    for met in _EMAIL.finditer(text):
        start = met.start(1) + len(met[1]) - len(met[1].lstrip(_LOCAL))
        end = met.end() - len(met[2]) + len(met[2].rstrip("-_"))
        if start < met.end(1) and _TOP.search(text[met.start(2) : end]) and met[1][-1] != ".":
            yield start, end


def _iter_phones(text: str) -> Iterator[Place]:
    return (met.span() for met in _PHONE.finditer(text))


def _iter_cards(text: str) -> Iterator[Place]:
    return (met.span() for met in _CARD.finditer(text) if _has_luhn("".join(filter(str.isdigit, met[0]))))


def _has_luhn(digits: str) -> bool:
    """Return whether the last digit is the check digit (ISO/IEC 7812-1, annex B)."""
    doubled = sum(sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    return (doubled + sum(map(int, digits[-1::-2]))) % 10 == 0


def _iter_keys(text: str) -> Iterator[Place]:
    return (met.span() for met in _KEY.finditer(text))


KINDS: Mapping[str, Callable[[str], Iterator[Place]]] = {
    "email": _iter_emails,
    "phone": _iter_phones,
    "card": _iter_cards,
    "key": _iter_keys,
}


class Redactions:
    """The placeholders of one render. Equal values have the same placeholder everywhere; different values have different ones.

    Each label numbers its placeholders from 1, in the order of the state: that of its lists, and of the keys of its mappings. Values from
    outside the state, such as from a store, get the next numbers in the order in which they are found. `pay` is called with the steps of
    each search.
    """

    def __init__(self, sets: Collection[tuple[Redaction, ...]], state: Any, pay: Callable[[int], None]) -> None:
        """Give everything found in the state its number. `sets` are the rules of each section, of all the sections that a pack may have."""
        self._pay = pay
        self._finders: dict[str, PatternFinder] = {}
        self._placeholders: dict[tuple[str, str], str] = {}
        self._counts: dict[str, int] = {}
        self._views: dict[tuple[tuple[Redaction, ...], int], tuple[Any, Any]] = {}
        self._labels = frozenset((*(rule.label for rules in sets for rule in rules), _QUOTED.label))
        self.originals: dict[str, str] = {}
        if len(sets) == 1:
            self.redact_value(state, *sets)  # numbers, and makes the views that are shown
        else:
            self._number(state, sets)

    def _number(self, state: Any, sets: Collection[tuple[Redaction, ...]]) -> None:
        """Give a number to what any of the sets replaces: the rules of one section do not hide what those of another find."""
        rules = tuple(dict.fromkeys(rule for one in sets for rule in one))
        for text in self._iter_texts(state):
            found = self._search(text, rules)
            for start, end, label in sorted({place for one in sets for place in _choose(found, one)}):
                self._replace(label, text[start:end])

    def _iter_texts(self, value: Any, sealed: Sealed | None = None) -> Iterator[str]:
        """Yield the texts of a value that are redacted, in the order in which they get their numbers."""
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            kept = _list_sealed(value, self._pay) if sealed is None else sealed
            for key, one in value.items():
                rest = kept.get(key)
                if rest is None or rest:
                    yield from self._iter_texts(one, {rest[0]: rest[1:]} if rest else None)
                yield key
        elif isinstance(value, list | tuple):
            for one in value:
                yield from self._iter_texts(one)

    def redact_value(self, value: Any, rules: tuple[Redaction, ...]) -> Any:
        """Return the value with every text in it redacted, including keys of mappings; the same object if nothing is redacted.

        Base64 of media and what a provider signed are left as they are: a provider refuses both if they were changed.
        """
        if isinstance(value, str):
            return self.redact(value, rules)
        if not isinstance(value, dict | list | tuple):
            return value
        known = self._views.get((rules, id(value)))
        if known is None:
            # The value is stored with its view: as long as it is alive, no other object has its id.
            known = self._views[rules, id(value)] = (value, self._view(value, rules))
        return known[1]

    def _view(self, value: Any, rules: tuple[Redaction, ...]) -> Any:
        if isinstance(value, dict):
            return self._view_mapping(value, rules, _list_sealed(value, self._pay))
        made = [self.redact_value(one, rules) for one in value]
        if all(one is old for one, old in zip(made, value, strict=True)):
            return value
        return made if isinstance(value, list) else type(value)(made)

    def _view_mapping(self, value: Mapping[str, Any], rules: tuple[Redaction, ...], sealed: Sealed) -> Mapping[str, Any]:
        """Return a mapping redacted, except for what is sealed."""
        pairs: list[tuple[Any, Any]] = []
        for key, one in value.items():
            rest = sealed.get(key)
            if rest:
                seen = self._view_mapping(one, rules, {rest[0]: rest[1:]})
            else:
                seen = one if rest is not None else self.redact_value(one, rules)
            pairs.append((self.redact_value(key, rules), seen))
        same = all(key is old and one is value[old] for (key, one), old in zip(pairs, value, strict=True))
        return value if same else dict(pairs)

    def redact(self, text: str, rules: tuple[Redaction, ...]) -> str:
        """Return the text with placeholders; a data URL with base64 of media has none.

        If occurrences overlap, the one that begins first wins, then the longest, then that of the first rule. Text that already reads like
        a placeholder is redacted too: nobody can write one and have it restored.
        """
        parts: list[str] = []
        at = 0
        for start, end, label in _choose(self._search(text, rules), rules):
            parts += (text[at:start], self._replace(label, text[start:end]))
            at = end
        return "".join((*parts, text[at:])) if parts else text

    def _search(self, text: str, rules: tuple[Redaction, ...]) -> Found:
        if is_data_url(text) and holds_base64(text, self._pay):
            return {}
        self._pay(len(rules) * (len(text) >> 3) + 1)
        return {_QUOTED: tuple(self._iter_quoted(text)), **{rule: tuple(self._find(rule, text)) for rule in rules}}

    def _find(self, rule: Redaction, text: str) -> Iterable[Place]:
        if not rule.pattern:
            return KINDS[rule.kind](text)
        finder = self._finders.get(rule.pattern)
        if finder is None:
            finder = self._finders[rule.pattern] = PatternFinder(rule.pattern)
        return finder.list_occurrences(text, lambda read: self._pay(read >> 1))

    def _iter_quoted(self, text: str) -> Iterator[Place]:
        if "[" in text:
            yield from (met.span() for met in _PLACEHOLDER.finditer(text) if met[0][1:].rpartition("_")[0] in self._labels)

    def _replace(self, label: str, value: str) -> str:
        made = self._placeholders.get((label, value))
        if made is None:
            self._counts[label] = self._counts.get(label, 0) + 1
            made = self._placeholders[label, value] = f"[{label}_{self._counts[label]}]"
            self.originals[made] = value
        return made


def _choose(found: Found, rules: tuple[Redaction, ...]) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and label of what these rules replace of what is found, in order."""
    ranked = enumerate((_QUOTED, *rules)) if found else ()
    at = 0
    for start, minus_end, _, label in sorted((start, -end, rank, rule.label) for rank, rule in ranked for start, end in found[rule]):
        if start >= at:
            yield start, -minus_end, label
            at = -minus_end


def _list_sealed(value: Mapping[str, Any], pay: Callable[[int], None]) -> Sealed:
    """Return what is base64 of media, or signed by a provider."""
    kind = value.get("type")
    if kind == "thinking" and "signature" in value:
        return {"signature": (), "thinking": ()}
    path = ("data",) if kind == "redacted_thinking" else locate_base64(value, pay)
    return {path[0]: path[1:]} if path else {}


def list_placeholders(text: str, originals: Mapping[str, str]) -> dict[str, str]:
    """Return those of `originals` whose placeholders are in the text, in its order."""
    return {met[0]: originals[met[0]] for met in _PLACEHOLDER.finditer(text) if met[0] in originals}


def restore(text: str, originals: Mapping[str, str], *, is_json: bool) -> str:
    """Return the text with every placeholder in `originals` replaced by its original, which in JSON is escaped like JSON text.

    Inserted text is not searched again. Raises `PromptcError` (PC0814) if the text would become longer than an answer may be: a short
    answer may repeat the placeholder of a long original.
    """
    made = restore_answer(text, originals, is_json=is_json)
    if len(made) > max(LONGEST_ANSWER, len(text)):
        message = f"with what its placeholders stand for, the answer has more than {LONGEST_ANSWER:,} characters"
        raise fail("PC0814", message, help="ask the model again, for an answer that does not repeat a placeholder so often")
    return made


def restore_answer(text: str, originals: Mapping[str, str], *, is_json: bool) -> str:
    """Return what `restore` returns, for an answer that is judged after that.

    A result of more than `LONGEST_ANSWER` characters keeps the rest of its placeholders, and is refused as an answer.
    """
    known = {name: json.dumps(value, ensure_ascii=False)[1:-1] if is_json else value for name, value in originals.items()}
    length = len(text)

    def put_back(met: re.Match[str]) -> str:
        nonlocal length
        original = known.get(met[0], met[0]) if length <= LONGEST_ANSWER else met[0]
        length += len(original) - len(met[0])
        return original

    return _PLACEHOLDER.sub(put_back, text)
