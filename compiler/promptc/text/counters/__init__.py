"""Token counters behind one protocol: `counter` has it and the memory around it, `exact` loads one by name, `bpe` holds the vocabularies.

Public: `bpe`, `counter`, `exact`
"""

from promptc.text.counters.counter import Counter
from promptc.text.counters.exact import load_counter

__all__ = ["Counter", "load_counter"]
