"""Texts that are hard on tokenizers, guards and cuts."""

from hypothesis import strategies as st

ATOMS = (
    '\n', '\r', '\r\n', ' ', '  ', '\t', '\xa0', '\u3000', '\u2028', '\x85', '\x0b', '\x0c', '\x1c', '/', '//', '\\', '!', "'",
    "'s", "'ll", '’s', 'a', 'B', 'Ab', 'the', 'é', 'É', 'é', '́', '中', '文', '。', '，', 'の', '한', 'ก', 'ี', 'ا', 'ً', 'א', 'क',
    'ि', '1', '12', '1234', '²', 'Ⅷ', '٣', 'ʰ', 'ǅ', '😀', '\U0001f468\u200d\U0001f469', '\u200b', '\x00', '.', '...', '-', '—',
    '=', '===', '=== A ===', '<|', '|>', '<|x|>', '<rule ', '\\u{200b}', '#', '{', '(', '"', '_', '\ufeff', 'ﬁ', '\u202e', '“',
    '\U000e0049', '\U000e0100', '\ufe0f', '\ufe07', '\U0001f3f4\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f',
)  # fmt: skip

characters = st.characters(exclude_categories=["Cs"])
texts = st.lists(st.one_of(st.sampled_from(ATOMS), st.sampled_from(ATOMS), characters), max_size=12).map("".join)
long_runs = st.tuples(st.one_of(st.sampled_from(ATOMS), characters), st.integers(1, 700)).map(lambda drawn: drawn[0] * drawn[1])
"""Some random bits of writing, and some that are much longer than tokens are."""
stretched = st.lists(st.one_of(texts, texts, long_runs), max_size=4).map("".join)
