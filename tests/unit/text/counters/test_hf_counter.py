import pytest
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

from promptc.diag.findings import PromptcError
from promptc.text.counters.huggingface import load_hf_counter


def _load(tokenizer):
    return load_hf_counter("hf:t.json", tokenizer.to_str().encode())


@pytest.fixture
def byte_level():
    """Bytes, with one merge, a special token, a beginning-of-text token, and settings that would change counts."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    ranks = {token: rank for rank, token in enumerate([*alphabet, "ab"])}
    tokenizer = Tokenizer(models.BPE(ranks, [("a", "b")]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken("<s>", special=True)])
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", len(ranks))])
    tokenizer.enable_truncation(4)
    tokenizer.enable_padding(length=64)
    return _load(tokenizer)


def test_a_text_is_counted_alone_and_whole(byte_level):
    assert byte_level.measure("") == 0
    assert byte_level.measure("ab ab c") == 5
    assert byte_level.measure("abc" * 100) == 200


def test_a_special_token_is_ordinary_text(byte_level):
    assert byte_level.measure("<s>") == 3


def test_places_are_those_of_tokens(byte_level):
    text = "abéab\r\n中"
    assert byte_level.measure(text) == 9
    assert byte_level.iter_starts(text) == [0, 2, 2, 4, 6, 7, 8, 8, 8]
    assert byte_level.token_ends(text) == [2, 3, 5, 7, 8]
    assert byte_level.token_ends("") == byte_level.iter_starts("") == []


# contract 10.5
def test_no_boundary_is_known(byte_level):
    assert not byte_level.is_safe("a\n", "b")
    assert byte_level.is_safe("", "b")
    assert byte_level.find_inner("a\nb\nc") is None
    assert byte_level.list_runs("a" * 1000) == []


def test_a_role_costs_its_name(byte_level):
    assert byte_level.role_tokens("abab") == 2


def test_what_it_has_no_token_for_is_a_finding():
    tokenizer = Tokenizer(models.WordLevel({"one": 0}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    counter = _load(tokenizer)
    assert counter.measure("one one") == 2
    with pytest.raises(PromptcError, match="PC0184"):
        counter.measure("two")


def test_dropped_white_space_goes_with_the_token_before():
    tokenizer = Tokenizer(models.WordLevel({"a": 0, "b": 1}, unk_token="a"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    counter = _load(tokenizer)
    assert counter.token_ends(" a  b ") == [4, 6]
    assert counter.iter_starts(" a  b ") == [1, 4]


@pytest.mark.parametrize(
    ("text", "left_out"),
    [
        ("hello" * 30, "hellohellohellohello"),
        ("ab 東京 ab", "東京"),
        ("x", "x"),
        ("ab\n\n!", "!"),
        ("aab ", "aa"),
        ("ab\u200d7", "\u200d7"),
    ],
)
def test_a_text_of_which_something_vanishes_is_refused(text, left_out):
    """Without an unknown token and without bytes, what the vocabulary lacks is dropped in silence, wherever it stands."""
    tokenizer = Tokenizer(models.BPE({"b": 0} if text == "aab " else {"a": 0, "b": 1, "ab": 2}, [] if text == "aab " else [("a", "b")]))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    with pytest.raises(PromptcError) as refused:
        _load(tokenizer).measure(text)
    (found,) = refused.value.diagnostics
    assert found.code == "PC0184" and found.message.endswith(f"no token for, near `{left_out}`")


def test_an_empty_vocabulary_counts_nothing():
    counter = _load(Tokenizer(models.BPE({}, [])))
    assert counter.measure("") == 0
    with pytest.raises(PromptcError):
        counter.measure("hello" * 30)


def test_what_a_normalizer_takes_out_of_sight_is_refused():
    tokenizer = Tokenizer(models.BPE({"a": 0}, []))
    tokenizer.normalizer = normalizers.Replace("b", "")
    with pytest.raises(PromptcError):
        _load(tokenizer).measure("ab")


@pytest.mark.parametrize("text", ["", " ", "\n\n", "ab  ab\n", "a\u0000b\u200dc\u0301\ufeff d", "é e\u0301 İ"])
def test_what_tokenizers_strip_may_go(text):
    """White space between words, control characters and marks; what has the unknown token is counted."""
    tokenizer = Tokenizer(models.WordPiece({"[UNK]": 0}, unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    assert (_load(tokenizer).measure(text) > 0) == bool(text.strip())


def test_a_mark_may_not_hide_what_vanished():
    """Inside a word the places of what is left are wrong: a mark at its end may seem to be what is missing."""
    with pytest.raises(PromptcError):
        _load(Tokenizer(models.BPE({"b": 0, "\u0301": 1}, []))).measure("中b\u0301")


def _bpe(vocabulary, merges=(), *, before=None, normalizer=None, **settings):
    tokenizer = Tokenizer(models.BPE({one: rank for rank, one in enumerate(vocabulary)}, list(merges), **settings))
    if before is not None:
        tokenizer.pre_tokenizer = before
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    return tokenizer


_BYTES = pre_tokenizers.ByteLevel(add_prefix_space=False)


@pytest.mark.parametrize(
    ("tokenizer", "text"),
    [
        (_bpe("a\n"), "é\n"),
        (_bpe("a\n"), "aéé\n\n"),
        (_bpe("ab\u0301", normalizer=normalizers.NFD()), "aЖ\u0301"),
        (_bpe(["Ã", "a"], before=_BYTES), "aé"),
        (_bpe(["a", "<0xC3>"], byte_fallback=True), "aé"),
        (_bpe(["a", "##b"], continuing_subword_prefix="##"), "ba"),
        (_bpe(["a", "a</w>", "b</w>"], end_of_word_suffix="</w>"), "ba"),
        (_bpe(["ab", "a"], ignore_merges=True, before=pre_tokenizers.WhitespaceSplit()), "ab ba"),
        (_bpe("ab", normalizer=normalizers.Replace(Regex("(?<=a)x"), "")), "axb"),
        (_bpe("ab ", normalizer=normalizers.Replace(Regex(".+"), "a")), "ab ba"),
        (_bpe("ab ", before=pre_tokenizers.Split("b", "removed")), "ab"),
    ],
)
def test_what_vanishes_is_refused_wherever_and_however(tokenizer, text):
    """Also where white space, a mark or the rest of a character seems to be what is missing."""
    counter = _load(tokenizer)
    assert counter.measure("a") == 1
    with pytest.raises(PromptcError) as refused:
        counter.measure(text)
    assert [one.code for one in refused.value.diagnostics] == ["PC0184"]


@pytest.mark.parametrize(
    ("tokenizer", "text", "count"),
    [
        (_bpe(["<0xC3>", "<0xA9>"], byte_fallback=True), "é", 2),
        (_bpe(["a", "##b"], continuing_subword_prefix="##"), "ab", 2),
        (_bpe(["ab"], ignore_merges=True), "ab", 1),
        (_bpe("ab", before=pre_tokenizers.WhitespaceSplit()), "a\n b\n", 2),
        (_bpe(["a", "b"], before=_BYTES), "a b\n", 2),
        (_bpe("가각a", normalizer=normalizers.NFC()), "a\u1100\u1161\u1100\u1161\u11a8", 3),
        (_bpe("ガa", normalizer=normalizers.NFKC()), "\uff76\uff9ea", 2),
        (_bpe('a"`', normalizer=normalizers.Replace("``", '"')), "```a``", 4),
    ],
)
def test_what_a_token_stands_for_is_counted(tokenizer, text, count):
    """Characters of which a normalizer makes one are no loss, nor is white space that the vocabulary lacks."""
    assert _load(tokenizer).measure(text) == count


def test_an_added_token_needs_no_letters():
    tokenizer = _bpe("ab")
    tokenizer.add_tokens([AddedToken("<x>", normalized=False)])
    assert _load(tokenizer).measure("a<x>b") == 3
    with pytest.raises(PromptcError):
        _load(tokenizer).measure("a<x>b<")


def test_no_merge_is_left_out_by_chance():
    counter = _load(_bpe(["a", "b", "ab"], [("a", "b")], dropout=0.5))
    assert {counter.measure("ab" * 50) for _ in range(20)} == {50}


def test_many_places_where_characters_become_one_take_no_time():
    counter = _load(_bpe('a"`', normalizer=normalizers.Replace("``", '"')))
    assert counter.measure("``a" * 5_000) == 10_000
    with pytest.raises(PromptcError):
        counter.measure("``a" * 50_000)


def _replacing(*contents):
    return normalizers.Sequence([normalizers.Replace("a", one) for one in contents])


def _make_endless(kind):
    if kind == "words":
        return Tokenizer(models.WordPiece({"[UNK]": 0, "a": 1, "##a": 2}, unk_token="[UNK]", max_input_chars_per_word=10**9))
    if kind == "pieces":
        return Tokenizer(models.Unigram([("<unk>", 0.0), *(("a" * length, -1.0) for length in (1, 257))], 0))
    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    made = {"chain": _replacing(*(["a" * 10] * 9)), "long": _replacing("b" * 32), "before": normalizers.Prepend("b" * 32)}
    tokenizer.normalizer = made[kind]
    return tokenizer


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("chain", "its normalizer"),
        ("long", "its normalizer"),
        ("before", "its normalizer"),
        ("words", "max_input_chars_per_word"),
        ("pieces", "a piece"),
    ],
)
def test_one_that_works_without_bound_is_refused(kind, why):
    with pytest.raises(PromptcError) as raised:
        _load(_make_endless(kind))
    (found,) = raised.value.diagnostics
    assert found.code == "PC0182" and why in found.message


def _make_splitting(pattern):
    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(pattern), "isolated"), pre_tokenizers.Digits()])
    return tokenizer


@pytest.mark.parametrize(
    "pattern",
    [
        r"(?:a|a){18}[QZ]",
        r"(a+)+$",
        r"(a*)*b",
        r"(?:a?a)+[QZ]",
        r"(?:a{1,3}){20}[QZ]",
        r"(?:\p{L}\p{Lu}*)+[QZ]",
        r"(?i)(?:\p{L}\p{M}*)+[QZ]",
        r"(?:[ab]|[bc])*d",
        r"(?:(?=a*)a)*b",
        r"a*a*[QZ]",
        r"a*(?=a*)[QZ]",
        r"a*a{1000}[QZ]",
        r"a?a?a?a?a?a?a?a?a?a?a?a?[QZ]",
        r"a*(?i)[QZ]|a*b",
        r"a{1,3}+b",
        r"a+*b",
        r"(?x)( a+ ) +b",
        r"(a*)\1b",
        r"(?<n>a\g<n>?b)",
        "(?:" * 200 + "a" + ")" * 200,
        "[a" * 200 + "]" * 200,
        "|".join(["a"] * 20_000),
        r"(?:(?:a|b)(?:a|b))*c",
        r"(?:a{3,1}){20}[QZ]",
        r"(?i)(?:ß|s)+[QZ]",
        r"\R*\R*b",
        r"(?:\p{L}(?: ?\p{M})*\p{M}*)+b",
        r"(?:\p{L}\p{M}*(?: \p{L}*)*)+b",
        r"(?:\p{L}(?:\p{M}\p{N}*)\p{N})+b",
        r"(?:a(?:b|c)*c?)+d",
        r"(?:(?:ab?)+)+c",
        r"a{2,3}(?#note){20}[QZ]",
        r"a*.++Z",
        r"a*(?>a*b)?Z",
        r"(?:a(?:\p{M}?[ab])??\u0345)*Z",
    ],
)
def test_a_pattern_that_looks_at_the_same_characters_again_and_again_is_refused(pattern):
    for tokenizer in (_make_splitting(pattern), _make_replacing(pattern)):
        with pytest.raises(PromptcError) as raised:
            _load(tokenizer)
        (found,) = raised.value.diagnostics
        assert found.code == "PC0182" and "again and again" in found.message and len(found.message) < 400


def _make_replacing(pattern):
    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Replace(Regex(pattern), "b")])
    return tokenizer


@pytest.mark.parametrize(
    "pattern",
    [
        r"(?i:'s|'t|'re|'ll)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        r"[\p{Han}]+|[^\r\n\p{L}]?[\p{Lu}\p{Lo}&&[^\p{Han}]]*[\p{Ll}\p{Lo}&&[^\p{Han}]]+(?i:'s|'t)?| ?[^\s\p{L}]+[\r\n/]*|\s+",
        r"[^\r\n\p{L}\p{N}]?+\p{L}+| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+$",
        r"\d{1,3}(?=(?:\d{3})*\b)",
        r"(?:\r?\n)+(?!\r?\n)",
        r" ?[^(\s|[.,!?…。])]+",
        r"(?:\p{L}\p{M}*)+|(?:[\p{L}\p{M}]|['\x{2019}])+|(?<!\p{N})[a-z0-9_]+?(?<word>\.[a-z]+)?",
        r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[\r\n]|(?>a+)b|\u00e9\x41",
        r"(?i)'(?:[sdmt]|ll|ve|re)|.",
        r"(?i:'s|'t)|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?|(?=(\d{3})+(?!\d))|\s+",
        " {2,}",
        "",
    ],
)
def test_the_patterns_of_published_tokenizers_are_of_no_matter(pattern):
    assert _load(_make_splitting(pattern)).measure("It's 12345 a\r\n\r\n b") > 0


@pytest.mark.parametrize("extra", ['"max_input_chars_per_word": "x", ', '"max_input_chars_per_word": null, ', '"vocab": [[1]], '])
def test_keys_that_a_model_has_no_use_for_do_no_harm(extra):
    raw = Tokenizer(models.WordLevel({"a": 0}, unk_token="a")).to_str().replace('"type":"WordLevel",', f'"type":"WordLevel",{extra}')
    raw = raw.replace('"type": "WordLevel",', f'"type": "WordLevel",{extra}')
    assert extra in raw
    try:
        assert load_hf_counter("hf:t.json", raw.encode()).measure("a") == 1
    except PromptcError as refused:
        assert [one.code for one in refused.diagnostics] == ["PC0182"]  # noqa: PT017


def test_what_published_tokenizers_replace_is_no_matter():
    tokenizer = Tokenizer(models.Unigram([("<unk>", 0.0), ("\u2581", -1.0), ("a", -2.0)], 0))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(" ", "\u2581"), normalizers.Replace("``", '"')])
    assert _load(tokenizer).measure("a a") == 3
