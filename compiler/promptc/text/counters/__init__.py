"""Token counters behind one protocol."""

from promptc.text.counters.counter import Counter
from promptc.text.counters.exact import load_counter

__all__ = ["Counter", "load_counter"]
