from collections.abc import Callable
from dataclasses import replace as replace
from typing import Any, TypeVar, dataclass_transform, overload

_T = TypeVar("_T")

@overload
def field(*, default: _T, repr: bool = ..., compare: bool = ...) -> _T: ...
@overload
def field(*, default_factory: Callable[[], _T], repr: bool = ..., compare: bool = ...) -> _T: ...
@overload
def field(*, repr: bool = ..., compare: bool = ...) -> Any: ...
@overload
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[_T], /) -> type[_T]: ...
@overload
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(*, eq: bool = ...) -> Callable[[type[_T]], type[_T]]: ...
