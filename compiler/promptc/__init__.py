"""A compiler for prompts: a pack and a state in, a prompt within its token budget and an account of every token out.

pack = promptc.load("pack.yaml")
state = pack.load_state(bytes_or_dict)
prompt = pack.render(state)

What stands in `__all__` is what it offers. Type checkers read it in `__init__.pyi`.
"""

from promptc.version import VERSION

__version__ = VERSION

_HOMES = {
    "Archive": "promptc.operations.results",
    "Diagnostic": "promptc.diag.findings",
    "DiskError": "promptc.diag.findings",
    "FitError": "promptc.diag.findings",
    "Listed": "promptc.operations.results",
    "OperationResult": "promptc.operations.results",
    "Pack": "promptc.api",
    "Prompt": "promptc.pipeline",
    "PromptcError": "promptc.diag.findings",
    "Request": "promptc.operations.results",
    "Session": "promptc.session",
    "State": "promptc.model.state",
    "UsageError": "promptc.diag.findings",
    "load": "promptc.api",
}
"""Where each name of the API is written."""

__all__ = ["__version__"]
__all__ += list(_HOMES)


def __getattr__(name):
    """The API, loaded when it is used: `import promptc` alone costs nothing."""
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'promptc' has no attribute {name!r}")


def __dir__():
    return [*__all__, "__doc__", "__file__", "__name__", "__path__"]
