"""The packs of questions: loaded when one is asked or checked, since no render needs them."""

from collections.abc import Callable
from pathlib import Path

from promptc.diag.findings import Diagnostic, DiskError, PromptcError, count_noun, fail
from promptc.diag.frozen import replace
from promptc.diag.typed import Any
from promptc.model.pack import Choice, PackModel
from promptc.model.state import Node

GIVEN = ("args", "answers")
"""The names that the pack of a question is given besides the state."""


class AskPacks:
    """The packs of one manifest's questions.

    `load` loads a pack's files. Each is loaded once, and sees what the pack that asks it sees: its
    state, by its schema, which `share` tells of.
    """

    def __init__(self, load: Callable[[Path], PackModel]) -> None:
        self._load = load
        self._loaded: dict[str, PackModel] = {}
        self._shared: dict[str, Any] = {}

    def share(self, pack: PackModel) -> None:
        """Tells of the pack that asks."""
        self._shared = {"schema": pack.schema, "find_schema_place": pack.find_schema_place}

    def find(self, name: str, node: Node, manifest: str) -> Callable[[], PackModel]:
        """What loads the pack of the ask `name`; `manifest` is its path, `node` names it."""

        def find_pack() -> PackModel:
            if manifest not in self._loaded:
                self._loaded[manifest] = self._load_one(name, node, manifest)
            return self._loaded[manifest]

        return find_pack

    def _load_one(self, name: str, node: Node, manifest: str) -> PackModel:
        try:
            pack = self._load(Path(node.folder, manifest))
        except DiskError:
            raise
        except PromptcError as error:
            count = count_noun(len(error.diagnostics), "finding")
            found = Diagnostic("PC0223", f"the pack that asks `{name}` is invalid: {count}", node.span, "mend what is told of its own file")
            raise PromptcError([found, *error.diagnostics]) from None
        if pack.operations:
            message = f"the pack that asks `{name}` has operations of its own"
            raise fail("PC0225", message, node.span, help="leave `operations` to the pack whose state it is")
        if not any(_is_of_user(pack, one) for one in pack.sections):
            message = f"the pack that asks `{name}` has no section of the user: a model would have nothing to answer"
            raise fail("PC0224", message, node.span, help="give the section that asks `role: user`")
        return replace(pack, given=GIVEN, **self._shared)


def _is_of_user(pack: PackModel, name: str) -> bool:
    section = pack.find_plan(Choice()).find_section(name)
    return section is not None and (section.role == "user" or (section.items is not None and section.items.message is not None))
