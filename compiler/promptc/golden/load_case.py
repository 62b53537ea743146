"""A `case.yaml` → a case."""

import os
from collections.abc import Mapping

from promptc.diag.findings import PromptcError
from promptc.diag.frozen import replace
from promptc.diag.typed import Any
from promptc.frontend.shape import check_case_shape
from promptc.frontend.yaml import MAX_BYTES, load_yaml
from promptc.golden.case_error import fail_case
from promptc.golden.cases.case import Case, GivenState, Kind
from promptc.golden.cases.confine import confine, find_fence
from promptc.golden.confine_case import confine_case
from promptc.golden.find_cases import CASE
from promptc.golden.find_home import find_pack, find_root, name_case, show_path
from promptc.golden.read_plain import read_plain
from promptc.model.state import Node

_KINDS: Mapping[str, Kind] = {
    "state": "render",
    "states": "session",
    "apply": "apply",
    "recall": "recall",
    "check": "check",
    "run": "run",
}

_EITHER = "`requires` is what a run needs, `missing` what it has to go without: keep one of them"
_EACH = ", ".join(f"`{key}`" for key in _KINDS)


def load_case(folder: str, top: str = "") -> Case:
    """The case in `folder` (absolute, real); `top` is the folder in which cases were looked for (`find_fence`).

    Raises `PromptcError` with all findings of its reading or of its shape (PC0901), where it cannot be read (PC0902, PC0903), and where it
    names a path outside its fence (PC0750). Whether files it names are there is not asked yet.
    """
    root = find_root(folder)
    fence = find_fence(folder, top)
    file = show_path(os.path.join(folder, CASE), root)
    confine(CASE, folder, fence)
    node = load_yaml(read_plain(os.path.join(folder, CASE), file, MAX_BYTES), file, folder)
    plain: Any = node.plain()
    found = check_case_shape(node, plain)
    if found:
        if isinstance(node.value, dict) and not any(key in node.value for key in _KINDS):
            raise fail_case("PC0901", f"the case has none of {_EACH}: it does nothing", node.span, help="give it a `state`, or another")
        raise PromptcError(replace(one, code="PC0901") for one in found)
    kind = next(_KINDS[key] for key in _KINDS if key in plain)
    case = Case(
        name=name_case(folder, root),
        root=root,
        folder=folder,
        file=file,
        pack=plain.get("pack") or find_pack(folder, root),
        kind=kind,
        title=plain["title"],
        golden=tuple(plain.get("golden", ())),
        node=node,
        states=_read_states(kind, plain, node),
        carry=plain.get("carry"),
        requires=_read_requires(plain, node),
        flags=plain.get("with", {}),
        given=plain.get("given", {}),
        expect=plain.get("expect", {}),
        asked=plain.get(kind),
        fence=fence,
    )
    confine_case(case)
    return case


def _read_requires(plain: Mapping[str, Any], node: Node) -> tuple[str, ...]:
    """The extras; one that `given` hides cannot be required at once."""
    found = tuple(plain.get("requires", ()))
    hidden = next((one for one in found if one in plain.get("given", {}).get("missing", ())), None)
    if hidden is not None:
        at = node.value["requires"].value[found.index(hidden)].span
        raise fail_case("PC0901", f"the case requires `{hidden}`, and `given: {{missing: [{hidden}]}}` hides it", at, help=_EITHER)
    return found


def _read_states(kind: Kind, plain: Mapping[str, Any], node: Node) -> tuple[GivenState, ...]:
    if kind == "render":
        return (_read_state(plain["state"]),)
    if kind == "apply":
        return (_read_state(plain["apply"]["state"]),)
    states = tuple(map(_read_state, plain.get("states", ())))
    if states and states[0].base is None:
        first = node.value["states"].value[0]
        raise fail_case("PC0901", "the first of `states` has no `base`", first.span, help="name a JSON file: `base: state.json`")
    return states


def _read_state(given: Any) -> GivenState:
    if isinstance(given, str):
        return GivenState(given)
    return GivenState(given.get("base"), tuple(given.get("set", {}).items()))
