"""All cases in one process of its own: prints one JSON object, case to digest. For runs under another hash seed and folder."""

import json
import sys

from tests.cases.case import load_cases
from tests.cases.run_case import digest, run_case

if __name__ == "__main__":
    json.dump({case.name: digest(run_case(case)) for case in load_cases()}, sys.stdout)
