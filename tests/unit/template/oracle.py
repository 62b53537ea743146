"""Jinja as the oracle: what it prints for a template, what promptc prints, and the two side by side."""

import copy
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from jinja2 import DictLoader, StrictUndefined, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment
from markupsafe import escape

from promptc.diag.findings import Diagnostic, PromptcError, Span, fail
from promptc.template.lower.module import load_template
from promptc.template.place import Place

_PLACE = Place(Span("t.j2", 1, 1), inline=False)
_JINJA_FAILS = (TemplateError, TypeError, ValueError, ArithmeticError, LookupError, AttributeError, RuntimeError, AssertionError)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one engine makes of a template: its text, or None and why not."""

    text: str | None
    why: str
    findings: tuple[Diagnostic, ...] = ()

    @property
    def code(self) -> str:
        """The code of the first finding."""
        return self.findings[0].code if self.findings else ""


def ask_jinja(
    text: str,
    names: Mapping[str, Any],
    files: Mapping[str, str],
    *,
    plain_escapes: bool = False,
    keys_only: bool = False,
    is_folding: bool = True,
) -> Outcome:
    """What Jinja makes of it, in the settings that docs/reference/templates.md promises.

    `plain_escapes`: as if `escape` and `tojson` gave plain text. `keys_only`: as if `a['b']` of a mapping never were its method `b`.
    `is_folding`: whether constants are computed when the template is loaded, as Jinja does.
    """
    environment = build_jinja(files)
    environment.optimized = is_folding
    if keys_only:
        environment.getitem = partial(_find_key, environment)  # type: ignore[method-assign]
    if plain_escapes:
        for name in ("e", "escape", "tojson"):
            environment.filters[name] = _forget_markup(environment.filters[name])
    try:
        with warnings.catch_warnings():
            # Jinja writes `1[...]` and unescapes `\\q`, and Python says what it thinks of it.
            warnings.simplefilter("ignore")
            return Outcome(environment.from_string(text).render(copy.deepcopy(dict(names))), "")
    except (*_JINJA_FAILS, SyntaxError) as error:
        return Outcome(None, f"{type(error).__name__}: {error}")


def build_jinja(files: Mapping[str, str]) -> ImmutableSandboxedEnvironment:
    """Jinja's own sandbox, strict, with the settings of docs/reference/templates.md."""
    return ImmutableSandboxedEnvironment(
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True, loader=DictLoader(dict(files))
    )


def ask_promptc(text: str, names: Mapping[str, Any], files: Mapping[str, str]) -> Outcome:
    """What promptc makes of it. Twice the same, and the names are left as they were."""
    given = copy.deepcopy(dict(names))

    def load_file(name: str) -> str:
        if name not in files:
            raise fail("PC0101", f"there is no file `{name}`")
        return files[name]

    try:
        template = load_template(text, _PLACE, load_file=load_file)
        shown = template.render(given)
        assert template.render(given) == shown, f"a second render differs: {text}"
    except PromptcError as error:
        shown = None
        findings = tuple(error.diagnostics)
    assert given == names, f"the names were changed: {text}"
    if shown is not None:
        return Outcome(shown, "")
    assert all(found.span is not None and found.span.line >= 1 for found in findings), text
    return Outcome(None, findings[0].message, findings)


def _find_key(environment: ImmutableSandboxedEnvironment, holder: Any, key: Any) -> Any:
    if isinstance(holder, dict) and key not in holder:
        return environment.undefined(obj=holder, name=key)
    return ImmutableSandboxedEnvironment.getitem(environment, holder, key)


def _forget_markup(filter: Callable[..., Any]) -> Callable[..., Any]:
    def plain(*args: Any, **kwargs: Any) -> str:
        return str.__str__(filter(*args, **kwargs))

    def escaped(value: Any) -> str:
        return str.__str__(escape(str(value)))

    if hasattr(filter, "jinja_pass_arg"):
        plain.jinja_pass_arg = filter.jinja_pass_arg  # type: ignore[attr-defined]
        return plain
    return escaped
