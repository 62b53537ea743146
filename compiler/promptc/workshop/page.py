"""The requests of the page of `promptc serve`: views of renders, the origin of a line, comparisons, values to move, and goldens.

`Bench` has the packs and the states, and renders what the page requests. It writes only goldens (`settle`) and values that were tried
(`write`), both only as the page has shown them. `render_static` makes the page one file, with the answers to all requests in it.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from shlex import quote

from promptc.api import Pack
from promptc.cache import Cache
from promptc.compare import compare_sides, read_side
from promptc.diag.findings import Diagnostic, DiskError, PromptcError, UsageError, show_reason
from promptc.diag.frozen import as_plain, frozen, replace
from promptc.diag.typed import Any, TypeVar
from promptc.economy import account_turns, find_break, read_request
from promptc.explain.output import LineTracer, describe_lines
from promptc.files.paths import resolve_path
from promptc.files.reading import Look, list_folder, note_looks, read_given
from promptc.frontend.json import MAX_STATE_BYTES
from promptc.frontend.manifest import find_value, list_pools
from promptc.golden.cases.case import Case
from promptc.golden.cases.discover import CaseFolder, choose_places, load_case, load_meant
from promptc.golden.running.environment import CaseEnvironment, list_lacking, prepare_case
from promptc.golden.running.resources import SuiteResources, work_in
from promptc.golden.running.run import compile_turns
from promptc.golden.verdicts.pending import PendingGolden, SettledGolden, list_pending, read_pending
from promptc.model.pack import MANIFEST
from promptc.model.state import Node, State
from promptc.passes.memory import TurnMemory
from promptc.pipeline import Outcome, Prompt, read_output
from promptc.text.diff import diff_lines
from promptc.text.json import render_digest
from promptc.workshop.splice import SplicedFile, replace_still, splice_manifest
from promptc.workshop.view import Known, Places, View, describe_failure, describe_view

_Made = TypeVar("_Made")

PAGE, STYLE, SCRIPTS = "page.html", "page.css", ("draw.js", "page.js")

Settle = Callable[[PendingGolden, bytes], SettledGolden]
"""What settles a pending golden: `accept_golden` or `reject_golden`."""

_MOST_PACKS = 12
_MOST_STATES = 4
_JSON = ".json"
_PLACE = re.compile(r"^@@ -|[, ].*$")
_SHARE = re.compile(r"[0-9]{1,3}%")
_NUMBERS = ("context", "reserve", "chars", "tokens", "min", "max", "share")
_RESERVE = "reserve"

STEPS = (50, 75, 100, 125, 150)
"""The positions of a slider, in per cent of the number in the manifest."""

MOST_VIEWS = 400
"""The limit for views with a moved slider. States beyond the limit get no such views."""


# --- what can be moved ---


def describe_controls(pack: Pack) -> View:
    """Return what an author can move: the numbers in the budgets of the prompt, tools, sections and pools; variant cases; patches."""
    model = pack.model
    places = [
        ("budget",),
        ("tools", "budget"),
        *(("sections", name, "budget") for name in model.sections),
        *(("pools", name, "max") for name, _ in list_pools(model.manifest)),
    ]
    return {
        "sliders": [one for keys in places for one in _iter_sliders(model.manifest, keys)],
        "axes": [{"name": one.name, "cases": list(one.cases), "default": one.default} for one in model.axes],
        "patches": list(model.patch_names),
    }


def _iter_sliders(manifest: Node, keys: Sequence[str]) -> Iterator[View]:
    """Yield a slider for a number, or one for each number of a mapping."""
    try:
        node = find_value(manifest, ".".join(keys))
    except UsageError:
        return  # only a variation has this section
    if node is None:
        return
    inner = [((key,), one) for key, one in node.items() if key in _NUMBERS] if isinstance(node.value, dict) else [((), node)]
    for more, one in inner:
        is_share = isinstance(one.value, str) and _SHARE.fullmatch(one.value) is not None
        if is_share or (isinstance(one.value, int) and not isinstance(one.value, bool)):
            own = [*keys, *more]
            told: View = {"path": ".".join(own), "keys": own, "value": int(str(one.value).rstrip("%")), "unit": "%" if is_share else ""}
            section = keys[1] if keys[0] == "sections" else "tools" if keys[0] == "tools" else None
            yield {**told, "section": section, "pool": keys[1] if keys[0] == "pools" else None, "at": str(one.span)}


# --- what the page asks for ---


@frozen
class Shown:
    """A state that the page can show: a file, or a turn (from 0) of a case, which may be a session."""

    id: str
    label: str
    path: str = ""
    case: str = ""
    top: str = ""
    turn: int = 0
    session: str = ""


def iter_cases(places: Sequence[CaseFolder]) -> Iterator[tuple[Case, str]]:
    """Yield the cases that make prompts, each with the folder in which cases were searched for. Skip a case that cannot be read."""
    for place in places:
        try:
            case = load_meant(place)
        except PromptcError:
            continue
        if case is not None and case.kind in ("render", "session") and not list_lacking(case.requires):
            yield case, place.top


class _OnePack(SuiteResources):
    """Resources that return the same pack to every case.

    If the circumstances of a case are its own, the pack is loaded anew in them: from the case's copy, or from `elsewhere`.
    """

    def __init__(self, pack: Pack, elsewhere: str = "", *, is_loaded: bool = True) -> None:
        super().__init__()
        self._only = pack
        self._elsewhere = elsewhere
        self._is_loaded = is_loaded

    def renew(self) -> SuiteResources:
        return _OnePack(self._only, self._elsewhere, is_loaded=False)

    def load_pack(self, root: str, path: str) -> Pack:
        return self._only if self._is_loaded else super().load_pack(root, path)

    def open_pack(self, root: str, path: str) -> Pack:
        return self._only.load_at(self._elsewhere or path)


def read_web() -> dict[str, bytes]:
    """Return the files of the page by name: the document, its style, and its scripts in order."""
    web = files("promptc.workshop") / "web"
    return {name: (web / name).read_bytes() for name in (PAGE, STYLE, *SCRIPTS)}


@frozen(eq=False)
class _KeptState:
    """A state, the content of its file, and what its last two renders made of it."""

    content: bytes
    state: State
    memory: TurnMemory


class Bench:
    """The packs and states that the page shows. Files are read on demand, and again after `forget`.

    `against` maps the names of other packs, as the page shows them, to their paths.
    """

    def __init__(self, pack: str, given: Sequence[str], cache: Cache | None = None, against: Mapping[str, str] | None = None) -> None:
        """Check that the states can be read and that there is one to show.

        Raises `UsageError` (PC0730) if there is no state to show, `DiskError` if a pack or a state cannot be read, and whatever the search
        for cases raises. Other errors in the pack are left to the views.
        """
        self._packs = {"": pack, **(against or {})}
        self._given = tuple(given)
        self._cache = cache
        self._loaded: dict[tuple[str, tuple[tuple[str, str], ...]], Pack] = {}
        self._old: dict[str, Pack] = {}
        self._found: dict[str, tuple[Diagnostic, ...]] = {}
        self._shown: list[Shown] = []
        self._looks: dict[tuple[str, tuple[Any, ...]], Look] = {}
        self._states: dict[Hashable, _KeptState] = {}
        for one in self._given:
            if one.endswith(_JSON):
                _read_state(one, one)
        try:
            self._load({})
        except DiskError:
            raise
        except PromptcError:
            pass  # the page shows the error until it is fixed
        if not self.list_shown():
            why = "no state is named, and the pack has no case that renders"
            help = f"name one, such as `promptc serve {quote(pack)} state.json`"
            raise UsageError([Diagnostic("PC0730", f"there is nothing to show: {why}", help=help)])

    @property
    def pack(self) -> str:
        """The path of the pack that may be changed."""
        return self._packs[""]

    def forget(self) -> None:
        """Forget what was read from files. A pack that is loaded again reuses whatever has not changed."""
        self._old |= {name: pack for (name, tries), pack in self._loaded.items() if not tries}
        for one in list(self._loaded):
            self._let_go(one)
        self._found.clear()
        self._looks.clear()
        self._states.clear()
        self._shown = []

    def list_shown(self) -> list[Shown]:
        """Return the states that were named, and the turns of the cases that render."""
        if not self._shown:
            states = [one for one in self._given if one.endswith(_JSON)]
            others = [one for one in self._given if one not in states]
            found = [Shown(one, one, path=str(Path(one).absolute())) for one in states]
            found += self._note(lambda: list(self._iter_cases(others))) if others or not states else ()
            met = Counter(one.label for one in found)
            self._shown = [replace(one, id=f"{one.label} {at}") if met[one.label] > 1 else one for at, one in enumerate(found)]
        return self._shown

    def _iter_cases(self, asked: Sequence[str]) -> Iterator[Shown]:
        """Yield the turns of the cases that render. Look at their folders, so that cases and goldens that come and go are noticed."""
        _look_at(asked)
        folders = set[str]()
        try:
            places = choose_places(asked or (self.pack,)).places
        except UsageError:
            if asked:
                raise
            return
        for case, top in iter_cases(places):
            for turn in range(len(case.states)):
                more = f" #{turn + 1}" if case.kind == "session" else ""
                label = f"{case.name}{more}"
                yield Shown(label, label, case=case.folder, top=top, turn=turn, session=case.name if more else "")
            folder = Path(case.folder)
            folders |= {str(one) for one in (folder, *folder.parents) if one.is_relative_to(top)}
        _look_at(folders)

    def list_looks(self) -> tuple[Look, ...]:
        """Return every look at the disk since `forget`. If one would see something else now, the page may be out of date."""
        return tuple(self._looks.values())

    def _note(self, work: Callable[[], _Made]) -> _Made:
        """Return the result of the work, or raise its error. Either way, record its looks at the disk."""
        wrong: list[PromptcError] = []

        def attempt() -> list[_Made]:
            try:
                return [work()]
            except PromptcError as error:
                wrong.append(error)
                return []

        made, looks = note_looks(attempt)
        self._looks |= {(name, given): (name, given, seen) for name, given, seen in looks if name}
        for error in wrong:
            raise error
        return made[0]

    # --- renders ---

    def describe_start(self) -> View:
        """Return what the page needs first: the states with their ids, and the names of the other packs."""
        shown = [{"id": one.id, "label": one.label, "session": one.session or None} for one in self.list_shown()]
        return {"shown": shown, "against": [one for one in self._packs if one]}

    def describe(self, asked: Mapping[str, Any], known: Known) -> View:
        """Return the view for a request, or a view of the error. What views have in common is in `known`."""
        try:
            pack, outcome = self._load(asked), self.render(asked)
            view = describe_view(outcome, known, (*pack.model.remarks, *self._found.get(asked.get("pack", ""), ())))
            return {**view, "own_budget": self._has_budget(asked), "controls": describe_controls(self._load({**asked, "tries": ()}))}
        except PromptcError as error:
            return self.describe_failure(error, asked)

    def _has_budget(self, asked: Mapping[str, Any]) -> bool:
        """Return whether the case that is shown sets the budget of the whole prompt, so that those of the pack have no effect."""
        shown = self._find(asked)
        return bool(shown.case) and "budget" in load_case(shown.case, shown.top).flags

    def describe_failure(self, error: PromptcError, asked: Mapping[str, Any]) -> View:
        """Return the view for a request that ended in an error."""
        path = Path(self._packs.get(asked.get("pack", ""), self.pack))
        manifest = path / "pack.yaml" if path.is_dir() else path
        shown = next((one.label for one in self._shown if one.id == asked.get("shown")), "")
        return describe_failure(error, Places(str(manifest), shown))

    def trace(self, asked: Mapping[str, Any], message: int, line: int) -> View:
        """Return the origin of a line of the output: the template's line and the keys of the state; no lines if the output lacks it.

        Raises what rendering raises.
        """
        outcome = self.render(asked)
        if outcome.emitted is None:
            return {"lines": []}
        tracer = LineTracer(outcome.fitted, outcome.emitted.parts)
        if not (0 <= message < max(tracer.count_messages(), 1) and 1 <= line <= tracer.count_lines(message)):
            return {"lines": []}
        return {"lines": as_plain(describe_lines(outcome.fitted, tracer, message, range(line, line + 1)))}

    def compare(self, old: Mapping[str, Any], new: Mapping[str, Any]) -> View:
        """Return the differences between two renders, section by section and word by word.

        Raises `PromptcError` if either has no output.
        """
        sides = [self.render(one) for one in (old, new)]
        for one in sides:
            if one.emitted is None:
                raise PromptcError(one.errors)
        found = compare_sides(*(read_side(read_output(Prompt(one)), one.report) for one in sides))
        return {"empty": found.is_empty, **as_plain(found)}

    def measure_session(self, asked: Mapping[str, Any]) -> View:
        """Return, for each turn of the shown session, the share that a provider's cache would reuse, and what broke the common prefix."""
        shown = self._find(asked)
        turns = [one for one in self.list_shown() if one.case and one.case == shown.case]
        made = self._render(self._load(asked), {**asked, "shown": turns[-1].id}) if turns else []
        requests = [read_request(one) for one in made if one.emitted is not None]
        told = []
        for at, turn in enumerate(account_turns(requests)):
            broken = find_break(requests[at - 1], requests[at]) if at else None
            told.append({"tokens": made[at].tokens, "share": turn.share if at else None, "broken": as_plain(broken), "id": turns[at].id})
        return {"turns": told}

    def _find(self, asked: Mapping[str, Any]) -> Shown:
        shown = self.list_shown()
        found = next((one for one in shown if one.id == asked.get("shown")), shown[0] if shown else None)
        if found is None:
            raise UsageError([Diagnostic("PC0730", "there is nothing to show: the states are gone")])
        return found

    def _load(self, asked: Mapping[str, Any]) -> Pack:
        name, tries = asked.get("pack", ""), _read_tries(asked)
        key = name, tries
        if key not in self._loaded:
            if len(self._loaded) >= _MOST_PACKS:
                self._let_go(next((one for one in self._loaded if one[1]), next(iter(self._loaded))))
            if tries:
                self._loaded[key] = self._load({"pack": name}).tried(tries)
            else:
                old = self._old.get(name)
                path = self._packs.get(name, self.pack)
                self._loaded[key] = self._note(lambda: Pack.load(path, self._cache) if old is None else old.reload())
        return self._loaded[key]

    def _let_go(self, key: tuple[str, tuple[tuple[str, str], ...]]) -> None:
        """Drop a pack and close the stores that it opened."""
        with self._loaded.pop(key):
            pass

    def check(self, asked: Mapping[str, Any]) -> View:
        """Check the pack itself. Later views include the findings."""
        name = asked.get("pack", "")
        try:
            self._found[name] = self._load({"pack": name}).check()
        except PromptcError as error:
            return self.describe_failure(error, asked)
        return {"count": len(self._found[name])}

    def render(self, asked: Mapping[str, Any]) -> Outcome:
        """Return the outcome for a request.

        Raises what loading, reading and rendering raise, and `UsageError` (PC0730) for a turn of a session that has ended before it.
        """
        made, shown = self._render(self._load(asked), asked), self._find(asked)
        if len(made) <= shown.turn:
            message, help = f"`{shown.label}` is not rendered: turn {len(made)} does not fit", f"look at turn {len(made)}"
            raise UsageError([Diagnostic("PC0730", message, help=help)])
        return made[-1]

    def _render(self, pack: Pack, asked: Mapping[str, Any]) -> list[Outcome]:
        """Return the outcomes of all turns up to the requested one, or to the first that does not fit; a single outcome for a file."""
        return self._note(lambda: self._render_shown(pack, self._find(asked), asked))

    def _render_shown(self, pack: Pack, shown: Shown, asked: Mapping[str, Any]) -> list[Outcome]:
        options: dict[str, Any] = {name: asked[name] for name in ("budget", "format") if asked.get(name)}
        variants = {axis: case for axis, case in asked.get("variants", {}).items() if case}
        options |= {"variants": variants} if variants else {}
        options |= {"patches": tuple(asked["patches"])} if asked.get("patches") else {}
        if not shown.case:
            return [self._compile_state(pack, shown, asked, options)]
        return _compile_case(load_case(shown.case, shown.top), pack, shown.turn, options)

    def _compile_state(self, pack: Pack, shown: Shown, asked: Mapping[str, Any], options: Mapping[str, Any]) -> Outcome:
        """Compile a state. Items that neither its file nor the values that are tried have changed are not rendered again."""
        content, shape = _read_state(shown.path, shown.label), tuple(one for one in _read_tries(asked) if one[0].split(".")[0] == "state")
        key = shown.id, asked.get("pack", ""), shape
        kept = self._states.get(key)
        if kept is None or kept.content != content:
            if len(self._states) >= _MOST_STATES:
                del self._states[next(iter(self._states))]
            kept = self._states[key] = _KeptState(content, pack.load_state(content, shown.label), TurnMemory())
        kept.memory.begin_turn()
        try:
            return pack.compile(kept.state, **options, memory=kept.memory)
        except PromptcError:
            return pack.compile(kept.state, **options)  # a render without memory reports the findings

    # --- what is written ---

    def preview(self, asked: Mapping[str, Any]) -> View:
        """Return the lines of the manifest that `write` would change. Writes nothing.

        Raises what `splice_manifest` raises.
        """
        return _describe_splice(splice_manifest(self.pack, _read_tries(asked)))

    def write(self, asked: Mapping[str, Any], digest: str) -> View:
        """Write the values that are tried to the manifest, if the result has the `digest` that `preview` returned.

        Raises what `splice_manifest` and `replace_still` raise, and `DiskError` (PC0725) if the file has changed since the preview.
        """
        made = splice_manifest(self.pack, _read_tries(asked))
        if render_digest(made.after) != digest:
            why, help = "it is not what the page showed: it has changed meanwhile", "look at what would change now"
            raise DiskError([Diagnostic("PC0725", f"cannot write `{made.name}`: {why}", help=help)])
        if made.changes:
            replace_still(made.name, made.before, made.after)
        return _describe_splice(made)

    # --- goldens ---

    def list_goldens(self) -> View:
        """Return the pending goldens of the shown cases, each with its differences."""
        return {"goldens": self._note(lambda: [_describe_golden(one) for one in self._iter_goldens()])}

    def settle(self, path: str, digest: str, settle: Settle) -> View:
        """Accept or reject a pending golden that was shown with this digest, and return the goldens that are left.

        Raises `DiskError` if it cannot be read or written, and `UsageError` (PC0730) if it has changed since, or is no longer pending.
        """
        pending = next((one for one in self._iter_goldens() if one.path == path), None)
        if pending is None:
            raise UsageError([Diagnostic("PC0730", f"`{path}` is not pending any more", help="reload the page")])
        new = read_pending(pending).new
        if render_digest(new) != digest:
            raise UsageError([Diagnostic("PC0730", f"`{path}` has changed since it was shown", help="reload the page")])
        settle(pending, new)
        return self.list_goldens()

    def _iter_goldens(self) -> Iterator[PendingGolden]:
        yield from list_pending(sorted({one.case for one in self.list_shown() if one.case}))


def _read_tries(asked: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple((str(path), str(value)) for path, value in asked.get("tries", ()))


def _describe_splice(made: SplicedFile) -> View:
    """Return the lines that change, each with two lines of context on either side."""
    old, new = (content.decode(errors="replace").splitlines() for content in (made.before, made.after))
    kinds = {"-": "gone", "+": "come", " ": "same"}
    lines = [
        {"kind": kinds[line[0]], "text": line[1:]} if line[0] in kinds else {"kind": "place", "text": _PLACE.sub("", line)}
        for line in diff_lines(old, new, 2)
    ]
    return {"file": made.name, "digest": render_digest(made.after), "count": len(made.changes), "lines": lines}


def _read_state(path: str, shown: str) -> bytes:
    """Return the content of a state. Raises `DiskError` (PC0724) if it cannot be read."""
    try:
        return read_given(path, MAX_STATE_BYTES)
    except (OSError, ValueError) as wrong:
        reason = show_reason(wrong)
        raise DiskError([Diagnostic("PC0724", f"cannot read the state `{shown}`: {reason}", help="name a JSON file")]) from wrong


def _describe_golden(pending: PendingGolden) -> View:
    seen = read_pending(pending)
    return {
        "case": pending.case,
        "path": pending.path,
        "status": pending.status,
        "digest": render_digest(seen.new),
        "stale": list(seen.stale),
        "cause": [{"what": one.what, "at": str(one.span) if one.span else None} for one in seen.cause],
        "found": as_plain(seen.found),
    }


def _look_at(folders: Collection[str]) -> None:
    """Look at folders, which need not exist."""
    for one in sorted(folders):
        with suppress(OSError):
            list_folder(one)


@contextmanager
def open_case(case: Case, pack: Pack) -> Iterator[CaseEnvironment]:
    """Yield the environment of a case, with `pack` in place of the case's own; it is removed afterwards.

    Raises what preparing the environment raises.
    """
    own = resolve_path(Path(case.root, case.pack))
    shown = resolve_path(pack.file)
    elsewhere = "" if shown in (own, own / MANIFEST) else str(shown)
    with _OnePack(pack, elsewhere) as resources, prepare_case(case, resources) as environment, work_in(environment.root):
        yield environment


def _compile_case(case: Case, pack: Pack, turn: int, options: Mapping[str, Any]) -> list[Outcome]:
    with open_case(case, pack) as environment:
        made = compile_turns(case, environment, turn, options)
        for one in made:
            _ = one.report  # build the report while the files of the case still exist
        return made


# --- the page as one file ---


def render_static(bench: Bench) -> bytes:
    """Return the page as one file that loads nothing, for a pull request: all views that it can show are rendered in advance.

    An error in a state or in the pack appears in the view that it concerns. The file's policy allows only its own two scripts to run. Equal
    packs and states make equal bytes.
    """
    web = {name: content.decode() for name, content in read_web().items()}
    style, scripts = web[STYLE], [web[name] for name in SCRIPTS]
    charset = '<meta charset="utf-8">\n'
    policy = f'<meta http-equiv="Content-Security-Policy" content="{_make_policy(style, scripts)}">\n'
    html = web[PAGE].replace(charset, charset + policy)
    html = html.replace(f'<link rel="stylesheet" href="{STYLE}">\n', f"<style>{style}</style>\n")
    for name in SCRIPTS:
        html = html.replace(f'<script src="{name}" defer></script>\n', "")
    data = f'<script type="application/json" id="made">{_show_inert(_make_answers(bench))}</script>\n'
    return html.replace("</body>", data + "".join(f"<script>{one}</script>\n" for one in scripts) + "</body>").encode()


def _make_policy(style: str, scripts: Sequence[str]) -> str:
    hashes = [f"'sha256-{b64encode(sha256(one.encode()).digest()).decode()}'" for one in (style, *scripts)]
    rules = {
        "default-src": "'none'",
        "style-src": hashes[0],
        "script-src": " ".join(hashes[1:]),
        "base-uri": "'none'",
        "form-action": "'none'",
        "require-trusted-types-for": "'script'",
        "trusted-types": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())


def _show_inert(value: Any) -> str:
    """Return JSON that is safe inside an HTML element: no text in it can close the element or open another."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")


def _make_answers(bench: Bench) -> View:
    """Return the answers to all requests that the page can make."""
    start, known = bench.describe_start(), Known()
    names = [one["id"] for one in start["shown"]]
    for pack in ("", *start["against"]):
        bench.check({"pack": pack})
    views = [_answer(bench, known, {"shown": name, "pack": pack}) for name in names for pack in ("", *start["against"])]
    own = (one["view"] for one in views if one["asked"]["pack"] == "" and "controls" in one["view"])
    moved: Sequence[View] = next((one["controls"]["sliders"] for one in own), [])
    sliders = [{**one, "steps": _list_steps(one)} for one in moved if one["path"].rpartition(".")[2] != _RESERVE]
    each = max(sum(len(one["steps"]) - 1 for one in sliders), 1)
    for name in names[: MOST_VIEWS // each]:
        for one in sliders:
            tries = ([one["path"], step] for step in one["steps"] if step != one["steps"][_place_own(one)])
            made = (_answer(bench, known, {"shown": name, "pack": "", "tries": [tried]}) for tried in tries)
            views += [one for one in made if "failed" not in one["view"]]
    for one in views:
        one["view"].pop("controls", None)
    return {
        "start": start,
        "controls": {"sliders": sliders, "axes": [], "patches": []},
        "known": known.tell(),
        "views": views,
        "compared": list(_iter_compared(bench, names, start["against"])),
        "sessions": list(_iter_sessions(bench, start["shown"])),
    }


def _answer(bench: Bench, known: Known, asked: Mapping[str, Any]) -> View:
    return {"asked": asked, "view": bench.describe(asked, known)}


def _list_steps(slider: Mapping[str, Any]) -> list[str]:
    """Return the positions of a slider as values of the manifest, in rising order."""
    most = 100 if slider["unit"] else slider["value"] * STEPS[-1] // 100
    found = sorted({min(slider["value"] * step // 100, most) for step in STEPS} | {slider["value"]})
    return [f"{one}{slider['unit']}" for one in found]


def _place_own(slider: Mapping[str, Any]) -> int:
    own: int = slider["steps"].index(f"{slider['value']}{slider['unit']}")
    return own


def _iter_compared(bench: Bench, names: Sequence[str], packs: Sequence[str]) -> Iterator[View]:
    for name in names:
        for pack in packs:
            try:
                found = bench.compare({"shown": name, "pack": pack}, {"shown": name})
            except PromptcError:
                continue  # the view shows the error
            yield {"shown": name, "pack": pack, "found": found}


def _iter_sessions(bench: Bench, shown: Sequence[Mapping[str, Any]]) -> Iterator[View]:
    met = set[str]()
    for one in shown:
        if one["session"] and one["session"] not in met:
            met.add(one["session"])
            try:
                yield {"session": one["session"], "found": bench.measure_session({"shown": one["id"]})}
            except PromptcError:
                continue
