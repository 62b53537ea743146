"""The counters over shipped vocabularies make the tokens that tiktoken makes, and that `tiktoken:<encoding>` makes: of drawn texts of every
plane, and of every code point in context."""

from collections.abc import Callable, Iterator
from itertools import accumulate
from random import Random

import pytest

from promptc.text.counters.counter import Counter
from promptc.text.counters.exact import NamedFile, load_counter, load_table_counter
from tests.cases.case import ROOT
from tests.cases.recount import load_encoding

TEXTS = 24_000
SLICE = 400
CODES = [code for code in range(0x110000) if not 0xD800 <= code < 0xE000]
PLANES = ((0x20, 0x7F), (0, 0x80), (0x80, 0x250), (0x250, 0x1000), (0x1000, 0x10000), (0x10000, 0x20000), (0x20000, 0x110000))
CONTRACTIONS = ("'s 'S 'ſ 't 're 'VE 'm 'll 'lL 'd ' ''s ’s 'st 'l 'v ſ \u212a \u0130 'r\u0301e").split(" ")
WHITE = (" |  |\t|\n|\r|\r\n|\x0b|\x0c|\x1c|\x1d|\x1e|\x1f|\x85|\xa0|\u1680|\u2009|\u2028|\u3000").split("|")
MARKS = "\u200b|\u200d|\ufe0f|\ufeff|\u0301|\u0e31|\u20dd|\U0001f468\u200d\U0001f469|\U0001f1e9\U0001f1ea|ªº|ʰ|ǅ|Ⅷ|²|٣".split("|")
WORDS = "the The THE camelCase XMLHttp straße ΣΊΣΥΦΟΣ été 世界 中 한국어 ภาษาไทย हिन्दी العربية / // 1 1234567 ... == <|endoftext|>".split()
CONTEXTS = ("{}", "a{}", "{}a", " {}", "{} ", "a{}b", "A{}a", "1{}2", "{0}{0}", "'{}", "{}'s", "\n{}", "{}\n", " {}\n/", "\u0301{}", ".{}/")
LONG = ("abcdefghijklmnopqrstuvwxyz", "aàá日ก😀'1 ", "!#$%&*+-/:;<=>?@", " \t\r\n\xa0", "天地玄黃宇宙洪荒", "aA'sſ")


def draw_text(rng: Random) -> str:
    """A text of up to some hundred characters: of one kind, or of all mixed."""
    kinds = [_draw_plane, _draw_repeated, *(lambda rng, atoms=atoms: rng.choice(atoms) for atoms in (CONTRACTIONS, WHITE, MARKS, WORDS))]
    chosen = rng.sample(kinds, rng.randint(1, len(kinds)))
    return "".join(rng.choice(chosen)(rng) for _ in range(rng.choice((1, 2, 5, 20, 60))))


def _draw_plane(rng: Random) -> str:
    first, last = rng.choice(PLANES)
    return "".join(chr(code) for code in (rng.randrange(first, last) for _ in range(rng.randint(1, 6))) if not 0xD800 <= code < 0xE000)


def _draw_repeated(rng: Random) -> str:
    return rng.choice((*WHITE, *CONTRACTIONS, *WORDS, _draw_plane(rng))) * rng.choice((2, 3, 7, 40, 90))


@pytest.fixture(params=["cl100k_base", "o200k_base"])
def find_wrong(request: pytest.FixtureRequest) -> Callable[[str], bool]:
    """Whether a text's tokens are not tiktoken's: as many, ending at the same bytes."""
    counter, encoding = load_table_counter(request.param), load_encoding(request.param)

    def judge(text: str) -> bool:
        tokens = encoding.encode_ordinary(text)
        starts = list(accumulate(map(len, encoding.decode_tokens_bytes(tokens)), initial=0))[:-1]
        counts = {counter.measure(text), counter.recount(text), counter.recount(text)}
        return counts != {len(tokens)} or list(counter.iter_starts(text)) != starts

    return judge


def test_drawn_texts(find_wrong: Callable[[str], bool], draws: Callable[[int], int], prove_seed: int) -> None:
    texts = (draw_text(Random(f"{prove_seed}/{index}")) for index in range(draws(TEXTS)))
    assert not [text for text in texts if find_wrong(text)][:5]


def test_every_code_point_in_context(find_wrong: Callable[[str], bool], draws: Callable[[int], int], prove_seed: int) -> None:
    """Slices of code points, each in every context (in a quick run some of most), in a row; one that differs is looked at one by one."""
    slices = [CODES[first : first + SLICE] for first in range(0, len(CODES), SLICE)]
    rng = Random(prove_seed)
    chosen = [(codes, CONTEXTS) for codes in slices[:3]]
    drawn = rng.sample(slices[3:], draws(len(slices) - 3))
    chosen += [(codes, tuple(rng.sample(CONTEXTS, min(draws(80), len(CONTEXTS))))) for codes in drawn]
    assert not [text for codes, contexts in chosen for text in _iter_wrong(codes, contexts, find_wrong)][:5]


def _iter_wrong(codes: list[int], contexts: tuple[str, ...], find_wrong: Callable[[str], bool]) -> Iterator[str]:
    for context in contexts:
        if find_wrong("\n.".join(context.format(chr(code)) for code in codes)):
            yield from (context.format(chr(code)) for code in codes if find_wrong(context.format(chr(code))))
            yield f"{context}, from {codes[0]:x} on, in a row"


@pytest.mark.parametrize("alphabet", LONG)
def test_long_texts(alphabet: str, find_wrong: Callable[[str], bool], draws: Callable[[int], int], prove_seed: int) -> None:
    """Long enough for many windows of one piece."""
    rng = Random(f"{prove_seed}/{alphabet}")
    texts = ("".join(rng.choice(alphabet) for _ in range(rng.randint(60, 3000))) for _ in range(draws(600)))
    assert not [text for text in texts if find_wrong(text)][:5]


@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base"])
def test_lines_that_were_counted_alone(name: str, draws: Callable[[int], int], prove_seed: int) -> None:
    """Each line is counted for itself; then they stand behind each other in an order that is drawn."""
    counter, encoding = load_table_counter(name), load_encoding(name)
    counter.recount("")  # from the second recount on, lines are remembered
    for index in range(draws(4_000)):
        rng = Random(f"{prove_seed}/lines/{index}")
        lines = [draw_text(rng) + rng.choice(("\n", "\n\n", "\r\n", " \n", ".\n")) for _ in range(rng.randint(1, 6))]
        for line in lines:
            assert counter.measure(line) == len(encoding.encode_ordinary(line)), f"{prove_seed}/lines/{index}"
        rng.shuffle(lines)
        text = "".join(lines)
        assert counter.recount(text) == len(encoding.encode_ordinary(text)), f"{prove_seed}/lines/{index}"


# contract 8.44
@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base"])
def test_an_encoding_of_tiktoken_counts_and_parts_as_the_shipped_vocabulary(
    name: str, draws: Callable[[int], int], prove_seed: int
) -> None:
    """By tiktoken's own pattern, and by what the rest of promptc asks of a counter."""
    ranks = NamedFile(f"{name}.tiktoken", str(ROOT / "tools" / "ranks"), None)
    shipped, encoding = load_table_counter(name), load_counter(f"tiktoken:{name}", folder="", ranks=[ranks])
    for index in range(draws(8_000)):
        rng = Random(f"{prove_seed}/encoding/{index}")
        left, right = draw_text(rng), draw_text(rng)
        assert _describe(encoding, left, right) == _describe(shipped, left, right), f"{prove_seed}/encoding/{index}"
    for alphabet in LONG:
        text = "".join(Random(f"{prove_seed}/{alphabet}").choices(alphabet, k=3000))
        assert _describe(encoding, text, "x") == _describe(shipped, text, "x")


def _describe(counter: Counter, left: str, right: str) -> tuple[object, ...]:
    counted = (counter.measure(left), counter.recount(left), counter.role_tokens(left), list(counter.iter_starts(left)))
    return (*counted, list(counter.token_ends(left)), counter.is_safe(left, right), counter.find_inner(left), counter.list_runs(left))
