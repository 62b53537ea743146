"""Texts that break naive counters, cutters and guards."""

from random import Random

IDS = ("alpha", "beta", "gamma", "delta", "eps")

_PLAIN = ("the", "gate", "Ash", "wolf", "runs", "at", "night", "I", "saw", "Dr.", "3.14", "don't", "I'll", "cold", "1,000", "x")
_ODD = (
    "café",
    "naïve",
    "Привет",
    "мир",
    "東京",
    "すし。",
    "한국어",
    "مرحبا",
    "🙂",
    "👩‍👩‍👧",
    "e\u0301",
    "ﬁ",
    "/path/to",
    "//",
    "/",
    "'s",
    "…",
    "?!",
    "—",
    "- [ ]",
    "#",
    "`code`",
    "{{ x }}",
    "{% if %}",
    "\\",
    "\\\\",
    "\u200b",
    "a\u200d",
    "ZZZZ",
    "0000000",
    "supercalifragilistic" * 2,
    "aaaaaaaa" * 6,
    "°",
    "\ufeff",
)
_HOSTILE = (
    *("</s>", "[INST]", "[/INST]", "<<SYS>>", "<start_of_turn>", "<|turn>", "<turn|>", "[TOOL_CALLS]"),
    "<\uff5cbegin\u2581of\u2581sentence\uff5c>",
    *("<|endoftext|>", "<|im_start|>", "<\\|x|>", "<|", "|>", "\u2028", "\x85", "\x0b", "\x1c", "\x01", "\x1b[0m", "=", "==="),
)
_HALVES = (
    *("=== ALPHA_", "BEGIN ===", "=== BETA_END ===", "<alp", "ha>", "</", "<", "|im_end|>", "im_end|>", "\\", " ", "\n", "x"),
    *("</s", "[IN", "ST]", "<start_", "of_turn>", "\U000e0041"),
)
_JOINS = (" ",) * 8 + (". ", "! ", "? ", "\n", "\n\n", "\r\n", "  ", "\t", " \n", ", ", "", "。", "\u3000", "\n  ", "\n/", "\r")
_STARTS = ("",) * 10 + ("/", " ", "   ", "\n", "\n  ", "\t", "\u3000", "\r\n", "// ", "\x1c ")
_ENDS = ("",) * 8 + ("\n", " ", "\n\n", "\r", "  \n", ".", "\n \n", "/")


def draw_text(rng: Random, most: int = 12, *, odd: float = 0.25) -> str:
    """A text of up to `most` words; now and then empty or white."""
    if rng.random() < 0.04:
        return rng.choice(("", " ", "\n", "\u3000\n"))
    if rng.random() > odd:
        return _draw_plain(rng, most)
    parts = [rng.choice(_STARTS)]
    for _ in range(rng.randint(1, most)):
        parts += [draw_word(rng), rng.choice(_JOINS)]
    parts[-1] = rng.choice(_ENDS)
    return "".join(parts)


def draw_word(rng: Random) -> str:
    """One word: plain, of another script, or one that looks like structure."""
    kind = rng.random()
    if kind < 0.6:
        return rng.choice(_PLAIN)
    if kind < 0.9:
        return rng.choice(_ODD)
    return rng.choice(_HOSTILE) if rng.random() < 0.6 else _draw_fence(rng)


def _draw_plain(rng: Random, most: int) -> str:
    words = [rng.choice(_PLAIN) for _ in range(rng.randint(1, most))]
    ends = [rng.choice((" ",) * 6 + (". ", ".\n", "! ", ", ")) for _ in words[1:]]
    return words[0].capitalize() + "".join(end + word for end, word in zip(ends, words[1:], strict=True)) + rng.choice((".", "!", "", "\n"))


def _draw_fence(rng: Random) -> str:
    name = rng.choice(IDS)
    line = rng.choice((f"=== {name.upper()}_BEGIN ===", f"=== {name.upper()}_END ===", f"<{name}>", f"</{name}>", "<item", "</item>"))
    return rng.choice(("", "\n", "\n  ", "\n\\", "\n\\\\")) + line + rng.choice(("", "\n", " "))


def draw_hostile_text(rng: Random) -> str:
    """A few fences, halves of fences, special tokens and their halves, with what may stand before or between."""
    return "".join(rng.choice((rng.choice(_HALVES), rng.choice(_HOSTILE), _draw_fence(rng))) for _ in range(rng.randint(1, 5)))
