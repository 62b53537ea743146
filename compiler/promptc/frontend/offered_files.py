"""The files of tools and response schemas that a manifest names, each read once."""

from collections.abc import Callable, Iterator
from pathlib import Path

from promptc.diag.findings import Diagnostic, DiskError, PromptcError
from promptc.diag.typed import TypeVar
from promptc.files.paths import show_path
from promptc.frontend.iter_keys import iter_keys
from promptc.frontend.pack_files import PackFiles
from promptc.model.pack import Response, Tool
from promptc.model.state import Node

Offered = TypeVar("Offered", Tool, Response)


class OfferedFiles:
    """Reads what a manifest offers a model. What is wrong goes into `findings`, and is raised before anything renders; `doubts` are
    what is doubtful in a file, once.
    """

    def __init__(self, files: PackFiles, findings: list[Diagnostic]) -> None:
        self._files = files
        self._findings = findings
        self._tools: dict[str, Tool | None] = {}
        self._responses: dict[str, Response | None] = {}
        self.doubts: list[Diagnostic] = []

    def find_tools(self, node: Node | None) -> tuple[Tool, ...]:
        """The tools of a list of files, in its order; two of one name are a finding."""
        found: dict[str, tuple[Tool, str]] = {}
        for one in _iter_listed(node):
            tool = self.find_tool(one)
            if tool is not None and tool.name in found:
                self._report_double(one, tool, *found[tool.name])
            elif tool is not None:
                found[tool.name] = tool, str(one.value)
        return tuple(tool for tool, _ in found.values())

    def _report_double(self, node: Node, tool: Tool, other: Tool, file: str) -> None:
        message, help = f"two tools are called `{tool.name}`", f"the other one is `{file}`: give one another name"
        if tool is other:
            message, help = f"`{node.value}` is listed twice", "take one out"
        self._findings.append(Diagnostic("PC0286", message, node.span, help))

    def find_tool(self, node: Node) -> Tool | None:
        """The tool in the file that a text names; None where that is wrong."""
        from promptc.frontend.load_tool import load_tool

        return self._find(node, self._tools, load_tool)

    def find_response(self, node: Node | None) -> Response | None:
        """The schema of the answer in the file that a text names; None where that is wrong, or there is none."""
        from promptc.frontend.load_response import load_response

        return self._find(node, self._responses, load_response) if node is not None and node.value is not None else None

    def read_all(self, manifest: Node) -> None:
        """Every file a manifest names, also of cases not chosen."""
        for _, key, node in iter_keys(manifest):
            if key == "tools":
                for one in _iter_listed(node):
                    self.find_tool(one)
            elif key == "response":
                self.find_response(node)

    def _find(
        self, node: Node, known: dict[str, Offered | None], load: Callable[[bytes, str], tuple[Offered, tuple[Diagnostic, ...]]]
    ) -> Offered | None:
        name = str(node.value)
        place = str(Path(node.folder, name))
        if place not in known:
            known[place] = None
            try:
                offered, doubts = load(self._files.read_raw(node.folder, name, node.span), show_path(node.span, name))
            except DiskError:
                raise
            except PromptcError as error:
                self._findings.extend(error.diagnostics)
            else:
                known[place] = offered
                self.doubts.extend(doubts)
        return known[place]


def _iter_listed(node: Node | None) -> Iterator[Node]:
    """The entries of a list that may be absent or null."""
    yield from node.value if node is not None and isinstance(node.value, tuple) else ()
