"""Guesses what an author meant by text that is not valid Jinja, and says what to write instead (`advise`).

Knows JavaScript's operators, Python's comprehensions, Handlebars, misplaced braces and unclosed tags. This module is imported only when a
text cannot be parsed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from promptc.diag.findings import join_names, suggest
from promptc.diag.frozen import frozen

_LONGEST = 100
"""Characters of the longest suggestion that is shown."""

_MOST = 400
"""Characters of the longest expression that is examined: the patterns take polynomial time."""

_WIDE = re.compile(r"\s{12}")
_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)
_KEY = re.compile(r"(?:^|[\s{,])([A-Za-z_]\w*)\s*:\s*$")
_OPENS = re.compile(r"\{\{|\{%")
_CLOSES = re.compile(r"\}\}|%\}")
_TAG = re.compile(r"[-+]?\s*(\w+)")
_PLACE = re.compile(r"\{([^{}!:]+)\}")
_SLOT = re.compile(r"\{\{[-+]?(.*?)[-+]?\}\}", re.DOTALL)
_WHOLE_IF = re.compile(r"\{%[-+]?\s*if\s+(.+?)\s*[-+]?%\}[^{}]*\{%[-+]?\s*endif\s*[-+]?%\}")

_BLOCKS = ("if", "for", "set", "macro", "call", "filter", "block", "with", "raw")
_KNOWN_TAGS = (*_BLOCKS, *(f"end{block}" for block in _BLOCKS), "include", "import", "from", "elif", "else")
_TAG_FORMS = {
    "foreach": "write `{% for item in state.facts %} … {% endfor %}`",
    "each": "write `{% for item in state.facts %} … {% endfor %}`",
    "endforeach": "write `{% endfor %}`",
    "unless": "write `{% if not state.on %} … {% endif %}`",
    "endunless": "write `{% endif %}`",
    "end": "write `{% endif %}` or `{% endfor %}`, in one word: each names what it ends",
    "fi": "write `{% endif %}`",
    "switch": "write `{% if … %} … {% elif … %} … {% endif %}`",
    "case": "write `{% if … %} … {% elif … %} … {% endif %}`",
    "while": "write `{% for number in range(3) %} … {% endfor %}`",
    "let": "write `{% set name = value %}`",
    "assign": "write `{% set name = value %}`",
    "print": "write `{{ value }}`",
}
_EXTENSIONS = {
    "do": "a template cannot change a value: make a new one with `{% set name = … %}`",
    "break": "loop over the first elements alone: `{% for item in state.facts[:3] %}`",
    "continue": "leave elements out in the head of the loop: `{% for item in state.facts if item.known %}`",
    "trans": "choose the text by the state, such as `{{ state.texts.greeting }}`",
    "debug": "use `promptc eval` or `promptc explain` to look at the state",
}
_SIGNS = {"&&": "and", "||": "or", "!": "not ", "===": "==", "!==": "!=", "<>": "!=", "?.": "."}
_SIGN = re.compile(r"&&|\|\||!==|===|<>|!(?!=)|\?\.(?=\w)")
_COMPREHENSION = re.compile(r"\[\s*([^\[\]]+?)\s+for\s+(\w+)\s+in\s+([^\[\]]+?)(?:\s+if\s+([^\[\]]+?))?\s*\]")
_CONDITIONAL = re.compile(r"\s*([^?:{}]+?)\s*\?(?!\?)\s*([^?:{}]+?)\s*:\s*([^?:{}]+?)\s*")
_HANDLEBARS = re.compile(r"\{\{\{?~?\s*(#|/|>|\^|!(?!\w+(?:\.\w+)*\s*\}\}))\s*([\w.@-]*)[ \t]*([^{}\n]*?)\s*~?\}\}")
_ELSE_IF = re.compile(r"\{%[-+]?\s*(else\s+if|elseif|elsif)\b\s*([^%{}]*?)\s*[-+]?%\}")

_HANDLEBARS_FORMS = {
    "#if": "{{% if {0} %}} … {{% endif %}}",
    "#unless": "{{% if not {0} %}} … {{% endif %}}",
    "#each": "{{% for item in {0} %}} … {{{{ item }}}} … {{% endfor %}}",
    "#with": "{{% with this = {0} %}} … {{% endwith %}}",
    "/if": "{{% endif %}}",
    "/unless": "{{% endif %}}",
    "/each": "{{% endfor %}}",
    "/with": "{{% endwith %}}",
}


@frozen
class Advice:
    """A finding on a text: its offset, what is wrong, and what to write instead."""

    at: int
    message: str
    help: str


def advise(why: str, text: str, at: int, *, before: str | None, tags: Sequence[tuple[int, str]]) -> Advice | None:
    """Return advice on a text that the parser refused at offset `at` with the message `why`; None if there is nothing better to say.

    `before` is the part of the line before an expression, which contains its key; None means that the text is a template. `tags` are the
    tags read from a template so far, each as offset and name.
    """
    if before is not None:
        return _advise_template_for_expression(text, before) or _advise_expression(text, 0, len(text), at, is_alone=True)
    start, stop = _locate_tag(text, at)
    return (
        _advise_unclosed(why, text, at)
        or _advise_handlebars(text, start, stop)
        or _advise_else_if(text, start)
        or _advise_blocks(why, text, at, tags)
        or _advise_braces(text, start)
        or _advise_expression(text, start, stop, at, is_alone=False)
        or _advise_end(why, text, start, at)
    )


def list_tags(tokens: Sequence[tuple[int, str, str]]) -> list[tuple[int, str]]:
    """Return the offset and name of each tag `{% … %}` among a template's tokens, without each `set` that assigns a value."""
    found: list[tuple[int, str]] = []
    begin, name, assigns = -1, "", False
    for at, kind, value in tokens:
        if kind == "block_begin":
            begin, name, assigns = at - 1, "", False
        elif kind == "name" and begin >= 0 and not name:
            name = value
        elif kind == "operator" and value == "=":
            assigns = True
        elif kind == "block_end":
            if not (name == "set" and assigns):
                found.append((begin, name))
            begin = -1
    return [*found, (begin, name)] if begin >= 0 and name else found


# --- a template where an expression is expected ---


def _advise_template_for_expression(text: str, before: str) -> Advice | None:
    plain = _hide_texts(text)
    first = _OPENS.search(plain)
    if first is None:
        return None
    key = _KEY.search(before)
    subject = f"`{key[1]}` takes an expression" if key else "an expression is needed here"
    whole = _WHOLE_IF.fullmatch(text.strip()) if _is_short(text) else None
    if whole is not None:
        return Advice(first.start(), f"{subject}, not a template with `{{% … %}}`", _write(whole[1], key[1] if key else ""))
    if "{%" in plain:
        return Advice(first.start(), f"{subject}, not a template with `{{% … %}}`", "write the condition alone, such as `state.on`")
    meant = _join_parts(_SLOT.split(text.strip())) if _is_short(text) else ""
    return Advice(first.start(), f"{subject}, not a template with `{{{{ … }}}}`", _write(meant, key[1] if key else ""))


def _join_parts(parts: Sequence[str]) -> str:
    """Return alternating constant texts and expressions as one expression."""
    written = [part.strip() if place % 2 else f"'{part}'" for place, part in enumerate(parts) if part.strip() or (place % 2 == 0 and part)]
    return " ~ ".join(written)


def _write(expression: str, key: str = "") -> str:
    if "\n" in expression or len(expression) > _LONGEST or not expression:
        return "leave the braces out: an expression needs none, such as `state.on`"
    return f"write `{f'{key}: ' if key else ''}{expression}`"


# --- syntax of other languages ---


def _advise_expression(text: str, start: int, stop: int, at: int, *, is_alone: bool) -> Advice | None:
    """Return advice on another language's syntax in a tag, or in a whole expression."""
    code = text[start:stop]
    if not _is_short(code):
        return None
    plain = _hide_texts(code)
    for look in (_look_for_comprehension, _look_for_conditional, _look_for_sign, _look_for_format, _look_for_rest):
        found = look(code, plain)
        if found is not None:
            return Advice(found.at + start, found.message, found.help)
    if is_alone:
        assigned = re.search(r"(?<![=!<>])=(?!=)", plain)
        if assigned is not None and assigned.start() == at:
            meant = _show(f"{code[:at]}=={code[at + 1 :]}") or "a == b"
            return Advice(at, "`=` sets a value, and does not compare", f"compare with `==`: `{meant}`")
    return None


def _look_for_comprehension(code: str, plain: str) -> Advice | None:
    found = _COMPREHENSION.search(plain)
    if found is None:
        return None
    element, name, source, condition = (code[slice(*found.span(number))] if found[number] else "" for number in range(1, 5))
    steps = [source, *_write_condition(condition, name), *_write_element(element, name), "list"]
    message = "a list comprehension is Python; here, filters make one list from another"
    if "" in steps:
        return Advice(found.start(), message, "chain filters: `state.facts | selectattr('known') | map(attribute='text') | list`")
    return Advice(found.start(), message, f"write `{' | '.join(steps)}`")


def _write_condition(condition: str, name: str) -> list[str]:
    """Return the filter for the condition of a comprehension; `""` in its place unless the condition is a simple one."""
    if not condition:
        return []
    found = re.fullmatch(rf"(not\s+)?{re.escape(name)}\.(\w+)(?:\s*(==|!=|<=|>=|<|>)\s*([\w.]+|'[^']*'|\"[^\"]*\"))?", condition)
    if found is None:
        return [""]
    sense, attribute, sign, value = found.groups()
    compared = f", '{sign}', {value}" if sign else ""
    return [f"{'rejectattr' if sense else 'selectattr'}('{attribute}'{compared})"]


def _write_element(element: str, name: str) -> list[str]:
    if element == name:
        return []
    found = re.fullmatch(rf"{re.escape(name)}((?:\.\w+)+)", element)
    return [f"map(attribute='{found[1][1:]}')"] if found else [""]


def _look_for_conditional(code: str, plain: str) -> Advice | None:
    at = re.search(r"\?(?![?.])(?<!\?\?)", plain)
    if at is None or ":" not in plain[at.start() :]:
        return None
    inner = re.fullmatch(r"(?:\{\{[-+]?)?(.*?)(?:[-+]?\}\})?", plain, re.DOTALL)
    begin, end = inner.span(1) if inner else (0, len(plain))
    parts = _CONDITIONAL.fullmatch(plain[begin:end])
    meant = ""
    if parts is not None:
        condition, yes, no = (code[begin:end][slice(*parts.span(number))] for number in (1, 2, 3))
        meant = _show(f"{yes} if {_translate(condition)} else {no}")
    message = "promptc does not read `a ? b : c`; write `b if a else c`"
    return Advice(at.start(), message, f"write `{meant}`" if meant else "write `'yes' if state.on else 'no'`")


def _look_for_sign(code: str, plain: str) -> Advice | None:
    found = _SIGN.search(plain)
    if found is None:
        return None
    meant = _show(_translate(_strip_braces(code)))
    sign = _SIGNS[found[0]].strip()
    example = {"not": "not state.done", ".": "state.user.name"}.get(sign, f"state.done {sign} state.paid")
    help = f"write `{meant}`" if meant else f"such as `{example}`"
    return Advice(found.start(), f"`{found[0]}` is not an operator here; write `{sign}`", help)


def _look_for_format(code: str, plain: str) -> Advice | None:
    """Look for an f-string: `f'Hello {state.name}'` is `'Hello ' ~ state.name`."""
    found = re.search(r"\b[fF](?=(['\"]))", plain)
    if found is None:
        return None
    text = code[found.end() + 1 : plain.find(found[1], found.end() + 1)]
    parts = _PLACE.split(text)
    is_plain = not re.search(r"['\"\\{}]", "".join(parts[::2])) and all(re.fullmatch(r"[\w.]+", part.strip()) for part in parts[1::2])
    meant = _show(_join_parts(parts)) if is_plain else ""
    help = f"write `{meant}`" if meant else "join values with `~`: `'Hello ' ~ state.name`"
    return Advice(found.start(), "an f-string is Python; here, `~` joins values to a string", help)


def _look_for_rest(code: str, plain: str) -> Advice | None:
    for sign, message, help in _REST:
        found = sign.search(plain)
        if found is not None:
            return Advice(found.start(), message, help)
    return None


_REST = (
    (
        re.compile(r"\?\?"),
        "`??` is not an operator here",
        "set a value for a missing key with `default`: `state.name | default('friend')`",
    ),
    (
        re.compile(r"=>"),
        "`=>` is not an operator here: a pack has no functions of its own",
        "use a filter: `state.facts | selectattr('known')`",
    ),
    (
        re.compile(r"\blambda\b"),
        "`lambda` is Python: a pack has no functions of its own",
        "use a filter: `state.facts | selectattr('known')`",
    ),
    (re.compile(r"[“”„‘’]"), "curly quotation marks do not quote a string", "write straight ones: `'gold'`"),
    (re.compile(r"`"), "backquotes do not quote a string; write `'…'`", "join values with `~`: `'Hello ' ~ state.name`"),
    (re.compile(r"\$\{"), "promptc does not read `${…}`", "write the name alone, and join values with `~`: `'Hello ' ~ state.name`"),
    (re.compile(r"\$\w"), "names begin with a letter, not with `$`", "write `state.name`"),
)


def _translate(code: str) -> str:
    """Replace operators of other languages by Jinja's, except inside quotes."""
    plain = _hide_texts(code)
    made, last = "", 0
    for found in _SIGN.finditer(plain):
        made += code[last : found.start()] + _SIGNS[found[0]]
        last = found.end()
        if found[0] == "!":
            last += len(code[last:]) - len(code[last:].lstrip())
    return made + code[last:]


def _show(code: str) -> str:
    """Return a rewritten expression if it is short enough to show and contains nothing foreign; else an empty text."""
    code = code.strip()
    plain = _hide_texts(code)
    is_fine = 0 < len(code) <= _LONGEST and "\n" not in code and not re.search(r"[?!](?!=)|&|\|\||=>|;|`|\$|\{\{|\{%", plain)
    return re.sub(r"\s+", " ", code) if is_fine else ""


# --- tags of templates ---


def _advise_unclosed(why: str, text: str, at: int) -> Advice | None:
    """Return advice on a remark or a `raw` block that never ends."""
    if why.startswith("Missing end of comment"):
        return Advice(text.rfind("{#", 0, at + 2), "`{#` is never closed: `#}` is missing", "write `#}` where the remark ends")
    if why.startswith("Missing end of raw"):
        return _describe_open(text, (text.rfind("{%", 0, at), "raw"))
    return None


def _advise_handlebars(text: str, start: int, stop: int) -> Advice | None:
    found = _HANDLEBARS.match(text, start, start + _MOST) if _is_short(text[start:stop]) else None
    if found is None:
        return None
    sign, name, rest = found.groups()
    message = f"`{_cut(found[0])}` is Handlebars; a template here is Jinja"
    form = _HANDLEBARS_FORMS.get(sign + name)
    if form is not None:
        return Advice(start, message, f"write `{form.format(rest or 'state.on')}`")
    helps = {
        "#": f"write `{{% if {name} %}} … {{% endif %}}`, or `{{% for item in {name} %}} … {{% endfor %}}`",
        "/": "write `{% endif %}` or `{% endfor %}`",
        "^": f"write `{{% if not {name} %}} … {{% endif %}}`",
        ">": f"write `{{% include '{name or 'part'}.md.j2' %}}`",
        "!": "write `{# … #}`",
    }
    return Advice(start, message, helps[sign])


def _advise_else_if(text: str, start: int) -> Advice | None:
    found = _ELSE_IF.match(text, start, start + _MOST) if _is_short(text[start : start + _MOST]) else None
    if found is None:
        return None
    word = re.sub(r"\s+", " ", found[1])
    return Advice(start, f"`{word}` is not a Jinja tag; write `elif`", f"write `{{% elif {_cut(found[2]) or 'state.on'} %}}`")


def _advise_blocks(why: str, text: str, at: int, tags: Sequence[tuple[int, str]]) -> Advice | None:
    """Return advice on a block that is not closed, or on a tag that closes or divides no block."""
    if why.startswith("Unexpected end of template"):
        opened = _list_open(tags)
        return _describe_open(text, opened[-1]) if opened else None
    read = [tag for tag in tags if tag[0] < at]
    if not why.startswith("Encountered unknown tag") or not read:
        return None
    *before, (place, name) = read
    opened = _list_open(before)
    if name not in ("else", "elif") and not (name.startswith("end") and name[3:] in _BLOCKS):
        near = suggest(name, _KNOWN_TAGS)
        help = near if near.startswith("did") else f"the tags are {join_names((*_BLOCKS, 'include', 'import', 'from', 'extends'))}"
        what = "a tag of Jinja that promptc does not have" if name in _EXTENSIONS else "not a Jinja tag"
        return Advice(place, f"`{{% {_cut(name)} %}}` is {what}", (_TAG_FORMS | _EXTENSIONS).get(name, help))
    if not opened:
        block = name[3:] if name.startswith("end") else "if"
        return Advice(
            place,
            f"`{{% {name} %}}` belongs to nothing: no `{{% {block} %}}` is open here",
            f"remove it, or write `{{% {block} … %}}` before it",
        )
    outer, block = opened[-1]
    message = f"`{{% {name} %}}` comes while `{_show_tag(text, outer)}` is still open"
    return Advice(place, message, f"write `{{% end{block} %}}` before it")


def _describe_open(text: str, opened: tuple[int, str]) -> Advice:
    place, name = opened
    closing = f"`{{% end{name} %}}`"
    return Advice(
        place,
        f"`{_show_tag(text, place)}` is never closed: its {closing} is missing",
        f"write {closing} after the last line that belongs to it",
    )


def _show_tag(text: str, place: int) -> str:
    end = _CLOSES.search(text, place)
    return _cut(text[place : end.end() if end else place + _LONGEST])


def _list_open(tags: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
    opened: list[tuple[int, str]] = []
    for place, name in tags:
        if name in _BLOCKS:
            opened.append((place, name))
        elif opened and name == f"end{opened[-1][1]}":
            opened.pop()
    return opened


def _advise_braces(text: str, start: int) -> Advice | None:
    """Return advice on a pair of braces too many, or on braces inside a tag."""
    around = max(text.rfind("{%", 0, start), text.rfind("{{", 0, max(start - 1, 0)))
    if around >= 0 and text.startswith("{{", start) and not _CLOSES.search(text, around, start):
        if text.startswith("{{", around):
            return Advice(around, "`{{` is never closed: `}}` is missing", "write `}}` where the value ends")
        inner = _SLOT.match(text, start, start + _MOST)
        meant = inner[1].strip() if inner else "state.on"
        return Advice(start, "inside a tag, write names without braces", f"write `{_cut(meant)}`, not `{{{{ {_cut(meant)} }}}}`")
    if text.startswith("{{{", start) or text.startswith("{{{", max(start - 1, 0)):
        first = start if text.startswith("{{{", start) else start - 1
        inner = re.match(r"\{{3,}([^{}]*)\}{2,}", text[first : first + _MOST])
        meant = inner[1].strip() if inner else "state.name"
        return Advice(first, "write two braces to print a value, not three: promptc escapes nothing", f"write `{{{{ {_cut(meant)} }}}}`")
    return None


def _advise_end(why: str, text: str, start: int, at: int) -> Advice | None:
    """Return advice on a tag that does not end, or ends too early."""
    opening = text[start : start + 2]
    if opening not in ("{{", "{%"):
        return None
    closing = "}}" if opening == "{{" else "%}"
    end = _CLOSES.search(text, start)
    other = _OPENS.search(text, start + 2)
    if end is None or (other is not None and other.start() < end.start()):
        return Advice(
            start,
            f"`{opening}` is never closed: `{closing}` is missing",
            f"write `{closing}` where the {'value' if closing == '}}' else 'tag'} ends",
        )
    if end[0] != closing:
        return Advice(end.start(), f"`{opening}` is closed by `{closing}`, not by `{end[0]}`", f"write `{closing}`")
    if why.startswith("expected token 'end of"):
        return Advice(
            at,
            f"the {'value' if closing == '}}' else 'tag'} ends before this, and `{closing}` is missing",
            "join two values with `~`, compare them with `==`, or remove this",
        )
    return None


def _locate_tag(text: str, at: int) -> tuple[int, int]:
    """Return the start and end of the tag that contains an offset; twice the end of the text if there is none."""
    starts = [found.start() for found in _OPENS.finditer(text, 0, min(at + 2, len(text))) if found.start() <= at]
    if not starts:
        return len(text), len(text)
    end = _CLOSES.search(text, starts[-1])
    return starts[-1], end.end() if end else len(text)


# --- parts of code ---


def _is_short(code: str) -> bool:
    return len(code) <= _MOST and not _WIDE.search(code)


def _hide_texts(code: str) -> str:
    """Replace every character inside quotes by `_`, so that no operator is found there."""
    return _QUOTED.sub(lambda found: f"{found[0][0]}{'_' * (len(found[0]) - 2)}{found[0][-1]}", code)


def _strip_braces(code: str) -> str:
    """Return the content of a tag: the value of `{{ … }}`, or the condition of `{% if … %}`."""
    found = re.fullmatch(r"\{\{[-+]?(.*?)[-+]?\}\}|\{%[-+]?\s*(?:el)?if\b(.*?)[-+]?%\}", code, re.DOTALL)
    if found is None:
        return "" if code.startswith(("{{", "{%")) else code
    return (found[1] if found[1] is not None else found[2]).strip()


def _cut(text: str) -> str:
    text = re.sub(r"\s+", " ", text)
    return text if len(text) <= 60 else f"{text[:60]}…"
