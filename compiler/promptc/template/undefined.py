"""What an unknown name, key or attribute gives."""

from jinja2 import StrictUndefined
from jinja2.utils import missing

from promptc.template.fault import Fault, name_kind, refuse
from promptc.template.reword import reword


class MissingFault(Fault):
    """An undefined value was used: `name` is not among the parts of `holder`, or of the names themselves when that is None."""

    def __init__(self, name: object, holder: object, *, of_names: bool) -> None:
        message = f"`{name}` is not known" if of_names else f"{name_kind(holder)} has no {name_part(name)}"
        super().__init__("PC0410" if of_names else "PC0411", message)
        self.name = name
        self.holder = holder
        self.of_names = of_names


def name_part(name: object) -> str:
    """A key or place as it is told: never more than a line of it, and nothing of what is no data."""
    if isinstance(name, str):
        return f"`{name[:80]}`"
    return f"element {name}" if name.__class__ is int else f"key that is {name_kind(name)}"


class Missing(StrictUndefined):
    """Any use but `is defined` and `default` raises `MissingFault`."""

    __slots__ = ()

    @property
    def _undefined_message(self) -> str:
        if self._undefined_hint:
            refuse("PC0411", reword(self._undefined_hint)[0])
        raise MissingFault(self._undefined_name, self._undefined_obj, of_names=self._undefined_obj is missing)
