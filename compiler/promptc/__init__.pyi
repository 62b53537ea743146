from promptc.api import Pack as Pack
from promptc.api import load as load
from promptc.diag.findings import Diagnostic as Diagnostic
from promptc.diag.findings import DiskError as DiskError
from promptc.diag.findings import FitError as FitError
from promptc.diag.findings import PromptcError as PromptcError
from promptc.diag.findings import UsageError as UsageError
from promptc.model.state import State as State
from promptc.operations.results import Archive as Archive
from promptc.operations.results import Listed as Listed
from promptc.operations.results import OperationResult as OperationResult
from promptc.operations.results import Request as Request
from promptc.pipeline import Prompt as Prompt
from promptc.session import Session as Session

__version__: str
