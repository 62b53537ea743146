"""From the text of a template to code: bounds, parse, allow-list, lowering."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from jinja2 import nodes

from promptc.diag.findings import Diagnostic, PromptcError, fail
from promptc.diag.frozen import frozen
from promptc.template.check_tree import check_tree, find_bound, find_names
from promptc.template.is_settled import is_settled
from promptc.template.limits import LIMITS, Limits
from promptc.template.lower.module import lower_template
from promptc.template.lower.scopes import LowerFault
from promptc.template.parse import PartsBudget, parse, verbatim, wrong_syntax
from promptc.template.place import Place
from promptc.template.reads import Path, find_reads
from promptc.template.runtime.lowered import LoweredFile
from promptc.template.runtime.program import Program

LoadFile = Callable[[str], str]


@frozen
class Compiled:
    """What `compile_source` makes: the program, and what it reads from the names it is given, and the texts of the files it brings in."""

    program: Program
    reads: frozenset[Path]
    files: Mapping[str, str]


def compile_source(text: str, place: Place, load_file: LoadFile | None, *, expression: bool = False, limits: Limits = LIMITS) -> Compiled:
    """Check and lower a template and all it includes. All findings of a stage are raised at once as `PromptcError`."""
    try:
        return _compile_all(text.replace("\r\n", "\n").replace("\r", "\n"), place, load_file, expression, limits)
    except (RecursionError, MemoryError):
        help = "split it with `set`, macros or `include`"
        raise fail("PC0403", "the template nests too deeply", place.find_span("", text, 1), help=help) from None


def _compile_all(text: str, place: Place, load_file: LoadFile | None, expression: bool, limits: Limits) -> Compiled:
    parts = PartsBudget(limits)
    tree = parse(text, "", place, limits, expression=expression, parts=parts)
    files = _Files(place, load_file, limits, parts)
    files.load_all(tree, "", text, ())
    texts = {"": text, **files.texts}
    trees = {"": tree, **files.trees}
    bound = frozenset().union(*map(find_bound, trees.values()))
    findings = [found for name, file in trees.items() for found in check_tree(file, bound, name, texts[name], place)]
    if findings:
        raise PromptcError(findings)
    reads = find_reads(tree, files.trees)
    settled = expression and is_settled(tree.body[0].nodes[0])  # type: ignore[attr-defined]
    lowered = tuple(_lower(file, name, texts[name], place, expression=expression and not name) for name, file in trees.items())
    return Compiled(Program(lowered, place, settled, limits), reads, files.texts)


def _lower(tree: nodes.Template, name: str, text: str, place: Place, *, expression: bool) -> LoweredFile:
    try:
        return lower_template(tree, name, text, find_bound(tree), expression=expression)
    except LowerFault as wrong:
        raise PromptcError([wrong_syntax(wrong.message, name, text, wrong.at, place)]) from None
    except SyntaxError as wrong:
        raise PromptcError([wrong_syntax(wrong.msg, name, text, wrong.lineno or 1, place)]) from None


class _Files:
    """The files a template brings in, each loaded once; circles are refused."""

    def __init__(self, place: Place, load_file: LoadFile | None, limits: Limits, parts: PartsBudget) -> None:
        self.place = place
        self.load_file = load_file
        self.limits = limits
        self.parts = parts
        self.trees: dict[str, nodes.Template] = {}
        self.texts: dict[str, str] = {}

    def load_all(self, tree: nodes.Template, name: str, text: str, above: tuple[str, ...]) -> None:
        """Load what `tree` names, and what that names."""
        for node in tree.find_all((nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends)):
            for wanted in _find_wanted(node):
                span = self.place.find_span(name, text, node.lineno)
                if wanted in above:
                    chain = " -> ".join((*above[above.index(wanted) :], wanted))
                    raise PromptcError([Diagnostic("PC0420", f"a circle of includes: {chain}", span, "take one of them out")])
                if wanted not in self.trees:
                    self._load(wanted, Diagnostic("PC0419", f"`{wanted}` cannot be included", span), (*above, wanted))

    def _load(self, name: str, failed: Diagnostic, above: tuple[str, ...]) -> None:
        if self.load_file is None:
            raise PromptcError([_because(failed, "there are no files here")])
        if len(self.trees) >= self.limits.files or len(above) > self.limits.depth:
            raise PromptcError([_because(failed, f"at most {self.limits.files} files, {self.limits.depth} deep")])
        try:
            text = self.load_file(name)
        except PromptcError as wrong:
            raise PromptcError([_because(failed, found.message, found.help) for found in wrong.diagnostics]) from None
        tree = parse(text, name, self.place, self.limits, parts=self.parts) if name.endswith(".j2") else verbatim(text)
        self.texts[name] = text
        self.trees[name] = tree
        self.load_all(tree, name, text, above)


def _find_wanted(node: nodes.Node) -> list[str]:
    """The files a statement names; none where it will be refused anyway."""
    if isinstance(node, nodes.Include) and node.ignore_missing:
        return []
    return list(find_names(node.template))  # type: ignore[attr-defined]


def _because(failed: Diagnostic, why: str, help: str = "") -> Diagnostic:
    return Diagnostic(failed.code, f"{failed.message}: {why}", failed.span, help or "name a file of the pack, by its path with `/`")
