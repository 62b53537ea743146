"""All cases in one process of its own: prints one JSON object, case to digest. For runs under another hash seed and folder."""

import contextlib
import io
import json
import sys

from tests.cases.case import load_cases
from tests.cases.run_case import run_case

if __name__ == "__main__":
    with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())):  # of what commands print
        digests = {case.name: run_case(case).digest for case in load_cases()}
    json.dump(digests, sys.stdout)
