"""Peak memory of a process that loads a state of 100 000 blocks and renders it (Linux: it reads `/proc`)."""

import subprocess
import sys

from benchmarks.measure import Scale, begin, show

_SCRIPT = """
import sys
from benchmarks.blocks import make_reach_state, make_sentinel_state
import promptc
def peak():
    # the kernel's own high-water mark of this process: `ru_maxrss` would begin at the parent's
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
pack = promptc.load(sys.argv[1])
make = make_reach_state if "reach" in sys.argv[1] else make_sentinel_state
state = pack.load_state(make(int(sys.argv[2]), 90))
before = peak()
prompt = pack.render(state)
prompt.report
print(before, peak())
"""


def bench_memory(scale: Scale) -> None:
    """Print the peak resident memory of a process, and how much of it the render adds, at 100 and at 100 000 blocks."""
    begin("Memory: peak of the process, load and render")
    for pack in ("packs/sentinel", "benchmarks/reach"):
        for size in scale.choose((100, 100_000), (5, 6)):
            run = subprocess.run([sys.executable, "-c", _SCRIPT, pack, str(size)], check=True, capture_output=True, text=True)
            loaded, rendered = (int(one) / 1024 for one in run.stdout.split())
            show(f"{pack}, N = {size:,}", rendered, ".0f MiB")
            show("  of these the render more than the load", rendered - loaded, ".1f MiB")
