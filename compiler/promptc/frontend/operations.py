"""Loads the operations of a manifest: compiles every expression and template, and reads every file that they name."""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from promptc.diag.findings import Collecting, Diagnostic, DiskError, PromptcError, Span, count_noun, fail
from promptc.diag.frozen import replace
from promptc.diag.typed import Any
from promptc.files.reading import read_mode
from promptc.frontend.json import load_json
from promptc.frontend.state import StateSchema, load_state_schema
from promptc.frontend.texts import PackFiles, TextCompiler
from promptc.model.messages import AnswerCheck, Append, Ask, Keep, Operation, Remove, Set, StateEdit
from promptc.model.pack import MANIFEST, Choice, PackModel
from promptc.model.state import Node

_KEYS = {"set": ("to", "archive"), "append": ("to", "each", "archive"), "remove": (), "keep": ("last", "where", "archive")}
"""The keys that each edit takes besides `when`."""

_NEEDED = {"set": ("to",), "append": ("to", "each"), "remove": (), "keep": ("last", "where")}
"""The keys of which each edit needs exactly one; `remove` needs none."""

_EXAMPLES = {"to": "`to: state.turn + 1`", "each": "`each: answers.facts`", "last": "`last: 12`", "where": "`where: item.open`"}

GIVEN = ("args", "answers")
"""The names that the pack of an ask may use in addition to the state."""


class OperationLoader:
    """Loads the operations of one manifest. Errors are added to the compiler's findings; `doubts` are warnings."""

    def __init__(self, compiler: TextCompiler, files: PackFiles, packs: AskPacks) -> None:
        self._compiler = compiler
        self._files = files
        self._packs = packs
        self.doubts: list[Diagnostic] = []

    def load(self, manifest: Node) -> tuple[Operation, ...]:
        """Return all operations, in the manifest's order."""
        node = manifest.get("operations")
        return tuple(self._load(name, one, node) for name, one in node.items()) if node is not None else ()

    def _load(self, name: str, node: Node, owner: Node) -> Operation:
        args, asks, when = node.get("args"), node.get("asks"), self._compiler.find_expression(node.get("when"))
        return Operation(
            name=name,
            title=node.text("title", name),
            span=owner.key_span(name),
            args=args.plain() if args is not None else {},
            when=when if when is not None and when.reads else None,
            asks=tuple(self._load_ask(one, ask, asks) for one, ask in asks.items()) if asks is not None else (),
            edits=tuple(self._iter_edits(node.value["edits"])),
            say=self._compiler.find_inline(node.get("say")),
        )

    # --- asks ---

    def _load_ask(self, name: str, node: Node, owner: Node) -> Ask:
        check, span = node.get("check"), owner.key_span(name)
        manifest = self._read_manifest(node.value["pack"])
        ask = Ask(
            name=name,
            span=span,
            pack=manifest,
            otherwise=self._compiler.text_or_file(node.value["else"]),
            load_pack=self._packs.make_loader(name, node.value["pack"], manifest),
            when=self._compiler.find_expression(node.get("when")),
            check=self._load_check(check) if check is not None else None,
        )
        self._judge_constant(ask, node.value["else"].span)
        return ask

    def _judge_constant(self, ask: Ask, span: Span) -> None:
        """Report a constant `else` that the schema refuses, because it could never replace an answer.

        An `else` without tags is the same in every run.
        """
        schema = ask.check.schema if ask.check is not None else None
        if schema is None or "{{" in ask.otherwise.text or "{%" in ask.otherwise.text or self._compiler.findings:
            return
        try:
            found = schema.check(load_json(ask.otherwise.render({}).rstrip().encode(), "the `else`"))
        except PromptcError as error:
            found = list(error.diagnostics)
        if found:
            message = (
                f"the `else` of `{ask.name}` does not match the schema of its answers: {found[0].message.replace('the state ', 'it ', 1)}"
            )
            self._compiler.note("PC0226", message, span, "write an `else` that the schema allows, or change the schema")

    def _read_manifest(self, node: Node) -> str:
        """Return the path of an ask's manifest inside the pack.

        The file is read now, like all files that a manifest names. Its content is checked when the ask's pack is loaded.
        """
        name = str(node.value)
        path = f"{name}/{MANIFEST}" if stat.S_ISDIR(read_mode(Path(node.folder), name)) else name
        with Collecting(self._compiler.findings):
            self._files.read_raw(node.folder, path, node.span)
        return path

    def _load_check(self, node: Node) -> AnswerCheck:
        schema, headings, claims = node.get("schema"), node.get("headings"), node.get("that")
        if (schema is not None and headings is not None) or (schema is None and headings is None and claims is None):
            message = (
                "this check accepts any text, or any short one: it has no `schema`, no `headings` and no `that`"
                if schema is None
                else "this check has both `schema` and `headings`, but an answer is either JSON or Markdown"
            )
            help = (
                "write `schema: answer.schema.json` for JSON, `headings: [Summary]` for Markdown, or a list of conditions under `that`"
                if schema is None
                else "keep `schema` for JSON, or `headings` for Markdown"
            )
            self._compiler.note("PC0221", message, node.span, help)
        return AnswerCheck(
            span=node.span,
            schema=self._load_schema(schema) if schema is not None else None,
            headings=tuple(one.strip() for one in node.texts("headings")),
            max=node.find_number("max"),
            claims=self._compiler.asserts(claims),
        )

    def _load_schema(self, node: Node) -> StateSchema | None:
        with Collecting(self._compiler.findings):
            loaded = self._files.made.make(load_state_schema, *self._files.read_named(node), node.span)
            self.doubts.extend(loaded.warnings)
            return loaded
        return None

    # --- edits ---

    def _iter_edits(self, nodes: Node) -> Iterator[StateEdit]:
        for node in nodes.value:
            kind = next(key for key in _KEYS if node.get(key) is not None)
            wrong = _find_wrong(kind, node)
            if wrong is None:
                yield self._load_edit(kind, node)
            else:
                self._compiler.findings.append(wrong)

    def _load_edit(self, kind: str, node: Node) -> StateEdit:
        pointer, find = node.value[kind], self._compiler.find_expression
        at, span, when = str(pointer.value), pointer.span, find(node.get("when"))
        archive = node.text("archive")
        match kind:
            case "set":
                return Set(at, span, when, self._compiler.expression(node.value["to"]), archive)
            case "append":
                return Append(at, span, when, find(node.get("to")), find(node.get("each")), archive)
            case "remove":
                return Remove(at, span, when)
            case _:
                return Keep(at, span, when, find(node.get("last")), find(node.get("where")), archive)


def _find_wrong(kind: str, node: Node) -> Diagnostic | None:
    """Return what is wrong with the keys or the pointer of an edit, or None."""
    pointer = node.value[kind]
    strange = [key for key, _ in node.items() if key not in (kind, "when", *_KEYS[kind])]
    if strange:
        known = ", ".join(f"`{key}`" for key in (*_KEYS[kind], "when"))
        return Diagnostic(
            "PC0220", f"`{kind}` does not take `{strange[0]}`", node.key_span(strange[0]), f"remove it: `{kind}` takes {known}"
        )
    needed = [key for key in _NEEDED[kind] if node.get(key) is not None]
    if len(needed) != min(1, len(_NEEDED[kind])):
        wanted = " or ".join(f"`{key}`" for key in _NEEDED[kind])
        shown = " or ".join(_EXAMPLES[key] for key in _NEEDED[kind])
        message = (
            f"`{kind}: {pointer.value}` has both {' and '.join(f'`{key}`' for key in needed)}"
            if needed
            else f"`{kind}: {pointer.value}` needs {wanted}"
        )
        return Diagnostic(
            "PC0220", message, node.key_span(needed[1]) if needed else node.span, "keep one of them" if needed else f"add {shown}"
        )
    if str(pointer.value).endswith("/-"):
        help = f"write `append: {str(pointer.value)[:-2]}` to add a value at the end" if pointer.value != "/-" else "name a list"
        return Diagnostic(
            "PC0222", f"`{kind}: {pointer.value}` names the place after the end of a list, where there is no value", pointer.span, help
        )
    return None


class AskPacks:
    """The packs of one manifest's asks.

    `load` loads a pack from its files. Each pack is loaded once, and has the state schema of the pack that asks, which `share` provides.
    """

    def __init__(self, load: Callable[[Path], PackModel]) -> None:
        self._load = load
        self._loaded: dict[str, PackModel] = {}
        self._shared: dict[str, Any] = {}

    def share(self, pack: PackModel) -> None:
        """Set the pack that asks. Its state schema is used for the packs of all asks."""
        self._shared = {"schema": pack.schema, "find_schema_place": pack.find_schema_place}

    def make_loader(self, name: str, node: Node, manifest: str) -> Callable[[], PackModel]:
        """Return a function that loads the pack of the ask `name` on first use. `manifest` is the pack's path, and `node` names it."""

        def load_pack() -> PackModel:
            if manifest not in self._loaded:
                self._loaded[manifest] = self._load_one(name, node, manifest)
            return self._loaded[manifest]

        return load_pack

    def _load_one(self, name: str, node: Node, manifest: str) -> PackModel:
        try:
            pack = self._load(Path(node.folder, manifest))
        except DiskError:
            raise
        except PromptcError as error:
            count = count_noun(len(error.diagnostics), "finding")
            found = Diagnostic(
                "PC0223", f"the pack of the ask `{name}` is invalid: {count}", node.span, "correct the findings in that pack's file"
            )
            raise PromptcError([found, *error.diagnostics]) from None
        if pack.operations:
            message = f"the pack of the ask `{name}` has `operations`, and only the pack that asks may have them"
            raise fail("PC0225", message, node.span, help="move `operations` into the pack that asks")
        if not any(_is_of_user(pack, one) for one in pack.sections):
            message = f"the pack of the ask `{name}` has no section with `role: user`, so a model has nothing to answer"
            raise fail("PC0224", message, node.span, help="write `role: user` on the section that holds the question")
        return replace(pack, given=GIVEN, **self._shared)


def _is_of_user(pack: PackModel, name: str) -> bool:
    section = pack.load_plan(Choice()).find_section(name)
    return section is not None and (section.role == "user" or section.message is not None)
