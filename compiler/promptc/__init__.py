"""A compiler for prompts: a pack and a state in, a prompt within its token budget and an account of every token out.

pack = promptc.load("pack.yaml")
state = pack.load_state(bytes_or_dict)
prompt = pack.render(state)

What stands in `__all__` is what it offers. Type checkers read it in `__init__.pyi`.
"""

from promptc.version import VERSION

__version__ = VERSION

__all__ = [
    "Archive",
    "Diagnostic",
    "DiskError",
    "Done",
    "FitError",
    "Listed",
    "Pack",
    "Prompt",
    "PromptcError",
    "Request",
    "State",
    "UsageError",
    "__version__",
    "load",
]


def __getattr__(name):
    """The API, loaded when it is used: `import promptc` alone costs nothing."""
    if name in __all__:
        from promptc import api

        return getattr(api, name)
    raise AttributeError(f"module 'promptc' has no attribute {name!r}")


def __dir__():
    return [*__all__, "__doc__", "__file__", "__name__", "__path__"]
