"""A line that ends in a block tag loses its line end (`trim_blocks`), and glues the next line to its text: everyone falls into it."""

from collections.abc import Iterator, Sequence

from promptc.check.eaten_lines import find_eaten
from promptc.check.fold import merge_configurations
from promptc.check.registry import Configuration
from promptc.check.texts import iter_texts
from promptc.diag.findings import Diagnostic
from promptc.model.pack import PackModel
from promptc.template.compile import Template

_SHOWN = 50  # characters of a tag that a message can bear


def check_line_ends(pack: PackModel, looks: Sequence[Configuration]) -> Iterator[Diagnostic]:
    """Lines of templates whose text runs into the next line's. A `+%}` keeps the line end, a `-%}` says that it may go."""
    eaten: dict[str, tuple[tuple[int, str], ...]] = {}
    return merge_configurations(looks, lambda look: _iter_look(pack, look, eaten))


def _iter_look(pack: PackModel, look: Configuration, eaten: dict[str, tuple[tuple[int, str], ...]]) -> Iterator[Diagnostic]:
    for text in iter_texts(pack, look.plan, look.combination.tier + 1):
        template = text.code
        if not isinstance(template, Template) or not (template.place.inline or template.place.span.file.endswith(".j2")):
            continue
        if template.text not in eaten:
            eaten[template.text] = tuple(find_eaten(template.text))
        for at, tag in eaten[template.text]:
            tag = tag if len(tag) <= _SHOWN else f"{tag[: _SHOWN // 2]} … {tag[-2:]}"
            line = template.text.count("\n", 0, at) + 1
            where = f"line {line} of {text.what}" if template.place.inline else "this line"
            message = f"the `{tag}` at the end of {where} takes the line end too: what follows is glued to it"
            help = f"write `{tag[:-2]}+{tag[-2:]}` to keep the line end, or `{tag[:-2]}-{tag[-2:]}` to say that it may go"
            yield Diagnostic("PC0641", message, template.place.find_span("", template.text, at), help, "warn")
