"""From the text of a template to something that runs: bounds, parse, allow-list, counting, Python."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from jinja2 import TemplateSyntaxError, nodes
from jinja2.parser import Parser

from promptc.diag.diagnostic import Diagnostic
from promptc.diag.errors import PromptcError, fail
from promptc.template.check_bounds import check_bounds, check_size
from promptc.template.check_tree import check_tree, find_bound, find_names
from promptc.template.compiled import Compiled
from promptc.template.count_nodes import count_nodes
from promptc.template.find_paths import find_paths
from promptc.template.find_reads import Path, find_reads
from promptc.template.generator import Counting, ExpressionGenerator, Generator, generate_source
from promptc.template.is_settled import is_settled
from promptc.template.limits import MAX_DEPTH, MAX_FILES
from promptc.template.place import Place
from promptc.template.reword import reword
from promptc.template.sandbox import Sandbox, find_sandbox

LoadFile = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Program:
    """What `compile_source` makes: the root, its environment, what it reads, and the texts of the files it brings in, by name."""

    root: Compiled
    sandbox: Sandbox
    reads: frozenset[Path]
    settled: bool
    files: Mapping[str, str]


def compile_source(text: str, place: Place, load_file: LoadFile | None, *, expression: bool = False) -> Program:
    """Check and compile a template and all it includes. All findings of a stage are raised at once as `PromptcError`."""
    try:
        return _compile_all(text, place, load_file, expression=expression)
    except (RecursionError, MemoryError):
        help = "split it with `set`, macros or `include`"
        raise fail("PC0403", "the template nests too deeply", place.find_span("", text, 1), help=help) from None


def _compile_all(text: str, place: Place, load_file: LoadFile | None, *, expression: bool) -> Program:
    sandbox: Sandbox = find_sandbox().overlay()
    tree = _parse(text, "", place, sandbox, expression=expression)
    files = _Files(place, load_file, sandbox)
    files.load_all(tree, "", text, ())
    texts = {"": text, **files.texts}
    trees = {"": tree, **files.trees}
    bound = frozenset().union(*map(find_bound, trees.values()))
    findings = [found for name, file in trees.items() for found in check_tree(file, bound, name, texts[name], place)]
    if findings:
        raise PromptcError(findings)
    reads = find_reads(tree, files.trees)
    settled = expression and is_settled(tree.body[0].nodes[0])  # type: ignore[attr-defined]
    kind = ExpressionGenerator if expression else Generator
    compiled = {name: _compile(file, name, texts[name], sandbox, place, Generator if name else kind) for name, file in trees.items()}
    sandbox.templates = compiled
    return Program(compiled[""], sandbox, reads, settled, files.texts)


def _parse(text: str, name: str, place: Place, sandbox: Sandbox, *, expression: bool = False) -> nodes.Template:
    _raise(check_size(text, name, place))
    state = "variable" if expression else None
    try:
        _raise(check_bounds(sandbox.lexer.tokeniter(text, name, None, state), text, name, place))
        parser = Parser(sandbox, text, name, None, state=state)
        return _parse_expression(parser) if expression else parser.parse()
    except TemplateSyntaxError as wrong:
        raise PromptcError([_wrong_syntax(wrong.message, name, text, wrong.lineno, place)]) from None


def _raise(findings: Any) -> None:
    found = list(findings)
    if found:
        raise PromptcError(found)


def _parse_expression(parser: Parser) -> nodes.Template:
    found = parser.parse_expression()
    if not parser.stream.eos:
        raise TemplateSyntaxError(f"the expression ends before `{parser.stream.current}`", parser.stream.current.lineno)
    tree = nodes.Template([nodes.Output([found], lineno=found.lineno)], lineno=1)
    tree.set_environment(parser.environment)
    return tree


def _wrong_syntax(why: str | None, name: str, text: str, line: int, place: Place) -> Diagnostic:
    message = reword(why or "wrong syntax")[0]
    help = "something is left open before this place" if "end of" in message else "see docs/templates.md"
    return Diagnostic("PC0401", message, place.find_span(name, text, line), help)


def _compile(tree: nodes.Template, name: str, text: str, sandbox: Sandbox, place: Place, kind: type[Generator]) -> Compiled:
    weight, paths = count_nodes(tree), find_paths(tree)
    try:
        source, lines = generate_source(Counting().visit(tree), sandbox, name, kind)
        code = compile(source, f"<template {name}>", "exec", dont_inherit=True)
    except TemplateSyntaxError as wrong:
        raise PromptcError([_wrong_syntax(wrong.message, name, text, wrong.lineno, place)]) from None
    except SyntaxError as wrong:
        raise PromptcError([_wrong_syntax(wrong.msg, name, text, _find_line(lines, wrong.lineno), place)]) from None
    module: dict[str, Any] = {"environment": sandbox}
    exec(code, module)
    compiled = Compiled(name, text, weight, module["root"], module["blocks"], tuple(sorted(lines.items())), paths)
    module["__compiled__"] = compiled
    return compiled


def _find_line(lines: Mapping[int, int], line: int | None) -> int:
    return max((own for code, own in lines.items() if code <= (line or 1)), default=1)


class _Files:
    """The files a template brings in, each loaded once; circles are refused."""

    def __init__(self, place: Place, load_file: LoadFile | None, sandbox: Sandbox) -> None:
        self.place = place
        self.load_file = load_file
        self.sandbox = sandbox
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
        if len(self.trees) >= MAX_FILES or len(above) > MAX_DEPTH:
            raise PromptcError([_because(failed, f"at most {MAX_FILES} files, {MAX_DEPTH} deep")])
        try:
            text = self.load_file(name)
        except PromptcError as wrong:
            raise PromptcError([_because(failed, found.message, found.help) for found in wrong.diagnostics]) from None
        tree = _parse(text, name, self.place, self.sandbox) if name.endswith(".j2") else _verbatim(text)
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


def _verbatim(text: str) -> nodes.Template:
    return nodes.Template([nodes.Output([nodes.TemplateData(text, lineno=1)], lineno=1)], lineno=1)
