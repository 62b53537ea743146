"""The plan a map is drawn of."""

from collections.abc import Mapping, Sequence

from promptc.check.registry import list_defaults
from promptc.diag.findings import Diagnostic, UsageError, suggest
from promptc.model.pack import Choice, PackModel


def find_choice(pack: PackModel, cases: Mapping[str, str], patches: Sequence[str]) -> Choice:
    """These cases, for the other axes their default or else their first case, these patches, and the first tier. Raises `UsageError` for an
    axis (PC0701), a case (PC0702) or a patch (PC0703) that the pack does not have."""
    axes = {axis.name: axis.cases for axis in pack.axes}
    for axis, case in cases.items():
        if axis not in axes:
            raise UsageError([Diagnostic("PC0701", f"the pack has no variant axis `{axis}`", help=suggest(axis, axes))])
        if case not in axes[axis]:
            raise UsageError([Diagnostic("PC0702", f"the axis `{axis}` has no case `{case}`", help=suggest(case, axes[axis]))])
    for name in patches:
        if name not in pack.patch_names:
            raise UsageError([Diagnostic("PC0703", f"the pack has no patch `{name}`", help=suggest(name, pack.patch_names))])
    chosen = tuple((axis, cases.get(axis, usual)) for axis, usual in list_defaults(pack))
    return Choice(chosen, tuple(patches), 0 if pack.strain is None else 1)
