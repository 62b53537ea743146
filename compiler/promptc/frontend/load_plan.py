"""From a choice to a plan: variations merged onto the manifest, the result compiled."""

from collections.abc import Mapping
from threading import Lock

from promptc.diag.findings import Diagnostic, PromptcError, suggest
from promptc.frontend.load_section import load_section
from promptc.frontend.load_source import find_declared
from promptc.frontend.load_steps import load_steps
from promptc.frontend.manifest import apply_variation
from promptc.frontend.offered_files import OfferedFiles
from promptc.frontend.output import load_output, load_shared_fence
from promptc.frontend.read_budget import read_total
from promptc.frontend.schema_check import check_effective_shape
from promptc.frontend.texts import TextCompiler
from promptc.model.pack import Choice, Plan
from promptc.model.section import Fence, Section, Step
from promptc.model.state import Node


class PlanLoader:
    """Finds the plan of a choice. Equal choices give the same plan; a section no variation touches is the same object in all of them.

    `plans` are those found so far."""

    def __init__(self, manifest: Node, compiler: TextCompiler, offered: OfferedFiles) -> None:
        self._manifest = manifest
        self._offered = offered
        self._compiler = compiler
        self._declared = find_declared(manifest)
        patches = manifest.get("patches")
        self.patches: Mapping[str, Node] = dict(patches.items()) if patches is not None else {}
        self._lock = Lock()
        self.plans: dict[Choice, Plan] = {}
        self._sections: dict[tuple[Node, Fence | None], Section] = {}
        self._fences: dict[Node, Fence | None] = {}
        self._steps: dict[Node, tuple[Step, ...]] = {}

    def find_plan(self, choice: Choice) -> Plan:
        """The compiled plan. Raises `PromptcError` with every finding of the merge and the compilation."""
        plan = self.plans.get(choice)
        if plan is not None:
            return plan
        with self._lock:
            return self._load_checked(choice)

    def _load_checked(self, choice: Choice) -> Plan:
        if choice not in self.plans:
            found = self._compiler.findings
            mark = len(found)
            plan = self._load(choice, mark)
            raised = found[mark:]
            del found[mark:]
            if plan is None or raised:
                raise PromptcError(raised)
            self.plans[choice] = plan
        return self.plans[choice]

    def _load(self, choice: Choice, mark: int) -> Plan | None:
        manifest = self._manifest
        for variation in self._iter_variations(choice):
            manifest = apply_variation(manifest, variation, self.patches, self._compiler.findings)
        if choice != Choice() and len(self._compiler.findings) == mark:
            self._compiler.findings.extend(check_effective_shape(manifest))
        if len(self._compiler.findings) > mark:
            return None
        fence = self._load_fence(manifest)
        sections = tuple(self._load_section(name, node, fence) for name, node in manifest.value["sections"].items())
        return Plan(
            sections=sections,
            truncate=self._load_truncate(manifest, sections),
            output=load_output(manifest, sections, fence, self._compiler),
            budget=read_total(manifest.value["budget"]),
            tools=self._offered.find_tools(manifest.get("tools")),
            response=self._offered.find_response(manifest.get("response")),
        )

    def _iter_variations(self, choice: Choice) -> list[Node]:
        found: list[Node] = []
        for axis, case in choice.cases:
            if case is not None:
                found.append(self._manifest.value["variants"].value[axis].value["cases"].value[case])
        found += [self.patches[name] for name in choice.patches]
        if choice.tiers:
            found += self._manifest.value["strain"].value["tiers"].value[: choice.tiers]
        found += [self.patches[name] for name in choice.uses]
        return found

    def _load_fence(self, manifest: Node) -> Fence | None:
        output = manifest.get("output")
        node = output.get("fence") if output is not None else None
        if node is None:
            return None
        if node not in self._fences:
            self._fences[node] = load_shared_fence(manifest, self._compiler)
        return self._fences[node]

    def _load_section(self, name: str, node: Node, fence: Fence | None) -> Section:
        key = (node, fence)
        if key not in self._sections:
            self._sections[key] = load_section(name, node, fence, self._declared, self._compiler)
        return self._sections[key]

    def _load_truncate(self, manifest: Node, sections: tuple[Section, ...]) -> tuple[Step, ...]:
        node = manifest.get("truncate")
        if node is None:
            return ()
        if node not in self._steps:
            self._steps[node] = load_steps(node, "truncate", self._compiler)
        known = [section.id for section in sections]
        for step in self._steps[node]:
            if step.section not in known:
                message = f"`truncate` names `{step.section}`, which is no section"
                self._compiler.findings.append(Diagnostic("PC0251", message, step.span, suggest(step.section, known)))
        return self._steps[node]
