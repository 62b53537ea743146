"""Where a section's content comes from, in a few words."""

from posixpath import dirname

from promptc.blockmap.phrase import Phrase, join_phrases, say
from promptc.model.pack import PackModel
from promptc.model.section import Items, Retrieve, Section, Segments
from promptc.template.compile import Expression, Template


def describe_source(section: Section, pack: PackModel) -> Phrase:
    """The file, the text in the manifest, or the list, store or index and how each item is shown."""
    if section.text is not None:
        return name_template(section.text, pack)
    assert section.items is not None
    return (*_describe_items(section.items), *_describe_forms(section.items, pack))


def name_template(template: Template, pack: PackModel) -> Phrase:
    """The file of a template as it is called in the pack; else that it stands in the manifest."""
    if template.place.inline:
        return say("inline text")
    folder = dirname(pack.file)
    file = template.place.span.file
    return say("{}", file.removeprefix(f"{folder}/") if folder else file)


def _describe_items(items: Items) -> Phrase:
    source = items.source
    if isinstance(source, Expression):
        return say("{}", source.text)
    return _describe_segments(source) if isinstance(source, Segments) else _describe_retrieve(source)


def _describe_segments(source: Segments) -> Phrase:
    parts = [say("store {}, scope {}", source.store, source.scope)]
    for name, code in (("each of", source.each), ("ref", source.ref), ("locale", source.locale), ("version", source.version)):
        if code is not None:
            parts.append(say(f"{name} {{}}", code.text))
    return join_phrases(parts, ", ")


def _describe_retrieve(source: Retrieve) -> Phrase:
    names = join_phrases([say("{}", name) for name in source.indexes], ", ")
    parts = [(*say("index "), *names), say("query {}", source.query.text)]
    if source.version is not None:
        parts.append(say("version {}", source.version.text))
    return join_phrases(parts, ", ")


def _describe_forms(items: Items, pack: PackModel) -> Phrase:
    if items.message is not None:
        return say("; each a message of role {}", items.message.role.text)
    files = [name_template(form, pack) for form in items.forms]
    inner = join_phrases(files, ", then ")
    return (*say("; each as "), *inner)
