"""A compiler for prompts: a pack and a state in, a prompt within its token budget and an account of every token out.

pack = promptc.load("pack.yaml")
state = pack.load_state(bytes_or_dict)
prompt = pack.render(state)
"""

from promptc.diag.typed import Any
from promptc.version import VERSION

__version__ = VERSION

__all__ = ["FitError", "Pack", "Prompt", "PromptcError", "State", "__version__", "load"]


def __getattr__(name: str) -> Any:
    """The API, loaded when it is used: `import promptc` alone costs nothing."""
    if name in __all__:
        from promptc import api

        return getattr(api, name)
    raise AttributeError(f"module 'promptc' has no attribute {name!r}")
