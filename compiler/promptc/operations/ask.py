"""What an operation asks a model."""

from collections.abc import Mapping

from promptc.api import Pack, Prompt
from promptc.diag.frozen import frozen
from promptc.diag.typed import Any
from promptc.model.state import State


@frozen(eq=False)
class Request:
    """One question: the prompt of the pack that asks it, in messages (`prompt.tokens`, `.messages`, `.to(provider)`), and the sha256
    (`sha256:…`) of the canonical JSON of its messages.
    """

    name: str
    prompt: Prompt
    digest: str


def ask(
    pack: Pack,
    state: State | bytes | Mapping[str, Any],
    operation: str,
    args: Mapping[str, Any] | None = None,
    answers: Mapping[str, str] | None = None,
) -> tuple[Request, ...]:
    """The questions of an operation that are to be asked and have no answer in `answers` yet, in the manifest's order.

    A question sees the answers given so far, each checked as `run_operation` does; one that is not given is none. So whoever asks
    one by one gives each answer in before asking on. Raises `UsageError` for an unknown operation, argument or answer, `PromptcError` for
    a state that is invalid and for a pack of a question that is, `FitError` for a question that does not fit.
    """
    raise NotImplementedError
