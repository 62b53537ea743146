from promptc.api import Archive as Archive
from promptc.api import Diagnostic as Diagnostic
from promptc.api import DiskError as DiskError
from promptc.api import Done as Done
from promptc.api import FitError as FitError
from promptc.api import Listed as Listed
from promptc.api import Pack as Pack
from promptc.api import Prompt as Prompt
from promptc.api import PromptcError as PromptcError
from promptc.api import Request as Request
from promptc.api import State as State
from promptc.api import UsageError as UsageError
from promptc.api import load as load

__version__: str
