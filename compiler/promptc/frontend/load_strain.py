"""`strain` out of a manifest: tiers with their thresholds as exact fractions."""

from itertools import pairwise

from promptc.diag.findings import Diagnostic, suggest
from promptc.frontend.load_steps import load_steps
from promptc.frontend.read_budget import read_ratio
from promptc.frontend.texts import TextCompiler
from promptc.model.pack import Strain, Tier
from promptc.model.section import Use
from promptc.model.state import Node


def load_strain(manifest: Node, compiler: TextCompiler) -> Strain | None:
    """The strain of a pack, or None. Thresholds must rise from 0, and a tier is left at or under its threshold."""
    node = manifest.get("strain")
    if node is None:
        return None
    count, watch = node.get("count"), node.get("watch")
    tiers = tuple(_load_tier(tier, compiler) for tier in node.value["tiers"].value)
    _check_tiers(tiers, compiler)
    _check_uses(tiers, manifest, compiler)
    strain = Strain(
        tiers=tiers,
        span=node.span,
        previous=compiler.find_expression(node.get("previous")),
        count=tuple(str(one.value) for one in count.value) if count is not None else None,
        watch=tuple((name, compiler.inline(text)) for name, text in watch.items()) if watch is not None else (),
    )
    _check_sections(strain, manifest, node, compiler)
    return strain


def _load_tier(node: Node, compiler: TextCompiler) -> Tier:
    name, at, leave, do = str(node.value["name"].value), read_ratio(node.value["at"]), node.get("leave"), node.get("do")
    return Tier(
        name=name,
        at=at,
        leave=read_ratio(leave) if leave is not None else at,
        do=load_steps(do, f"strain.{name}.do", compiler) if do is not None else None,
        span=node.span,
    )


def _check_tiers(tiers: tuple[Tier, ...], compiler: TextCompiler) -> None:
    if tiers[0].at != 0:
        compiler.findings.append(
            Diagnostic(
                "PC0252", f"the first tier, `{tiers[0].name}`, begins at {float(tiers[0].at):g}, not at 0", tiers[0].span, "give it `at: 0`"
            )
        )
    for lower, upper in pairwise(tiers):
        if upper.at <= lower.at:
            message = f"tier `{upper.name}` begins at {float(upper.at):g}, not above `{lower.name}` at {float(lower.at):g}"
            compiler.findings.append(Diagnostic("PC0253", message, upper.span, "thresholds rise from tier to tier"))
        if upper.name in [tier.name for tier in tiers[: tiers.index(upper)]]:
            compiler.findings.append(Diagnostic("PC0254", f"two tiers are named `{upper.name}`", upper.span))
    for tier in tiers:
        if tier.leave > tier.at:
            message = f"tier `{tier.name}` is left at {float(tier.leave):g}, above its threshold {float(tier.at):g}"
            compiler.findings.append(Diagnostic("PC0255", message, tier.span, "`leave` is at or under `at`"))


def _check_uses(tiers: tuple[Tier, ...], manifest: Node, compiler: TextCompiler) -> None:
    node = manifest.get("patches")
    known = [name for name, _ in node.items()] if node is not None else []
    for step in (step for tier in tiers for step in tier.do or ()):
        if isinstance(step, Use) and step.patch not in known:
            compiler.findings.append(Diagnostic("PC0241", f"there is no patch `{step.patch}`", step.span, suggest(step.patch, known)))


def _check_sections(strain: Strain, manifest: Node, node: Node, compiler: TextCompiler) -> None:
    known = [name for name, _ in manifest.value["sections"].items()]
    count = node.get("count")
    for name in count.value if count is not None else ():
        if name.value not in known:
            compiler.findings.append(
                Diagnostic(
                    "PC0256", f"`strain.count` names `{name.value}`, which is no section", name.span, suggest(str(name.value), known)
                )
            )
    watch = node.get("watch")
    for watched, _ in strain.watch:
        span = watch.key_span(watched) if watch is not None else strain.span
        if watched not in known:
            compiler.findings.append(
                Diagnostic("PC0256", f"`strain.watch` names `{watched}`, which is no section", span, suggest(watched, known))
            )
        if watched in (strain.count or ()):
            compiler.findings.append(
                Diagnostic(
                    "PC0257", f"`{watched}` is both counted and watched by `strain`", span, "take it out of `count` or out of `watch`"
                )
            )
