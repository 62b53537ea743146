"""A compiler for prompts: a pack and a state in, a prompt within its token budget and an account of every token out.

pack = promptc.load("pack.yaml")
state = pack.load_state(bytes_or_dict)
prompt = pack.render(state)

The public API is the names in `__all__`. Type checkers read it from `__init__.pyi`.
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
"""The module of each name of the API."""

__all__ = ["__version__"]
__all__ += list(_HOMES)


def __getattr__(name):
    """Load a name of the API at its first use, so that `import promptc` alone costs nothing."""
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'promptc' has no attribute {name!r}")


def __dir__():
    return [*__all__, "__doc__", "__file__", "__name__", "__path__"]
