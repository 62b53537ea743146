"""What stands for an answer, cut to the tokens an answer may have."""

from bisect import bisect_left

from promptc.text.counters.counter import Counter
from promptc.text.cutting import iter_kept
from promptc.text.meter import Meter
from promptc.text.white import WHITE


def cut_answer(text: str, most: int, meter: Meter) -> str:
    """The longest beginning of `text` that ends with a line and has at most `most` tokens; inside its first line a word, else a token ends
    it. Without line ends behind it.
    """
    plain = text.rstrip(WHITE)
    if meter.tokens(meter.count(plain)) <= most:
        return plain
    counter: Counter = meter.counter
    cuts = [kept.join(plain).rstrip(WHITE) for kept in iter_kept(plain, "line", token_ends=lambda: counter.token_ends(plain))]
    first = bisect_left(cuts, True, key=lambda cut: meter.tokens(meter.count(cut)) <= most)
    return next((cut for cut in cuts[first:] if meter.tokens(meter.count(cut)) <= most), "")
