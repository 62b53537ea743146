"""Content cannot be read as structure, and can be read back."""

from hypothesis import given
from hypothesis import strategies as st

from promptc.text.guard import Guard, iter_hidden, load_special_tokens, replace_hidden
from tests.property.text_drawing import stretched, texts

policies = st.sampled_from(["escape", "escape", "keep", "reject"])
seen_policies = st.one_of(policies, st.just("replace_hidden"))
fences = st.lists(st.one_of(st.sampled_from(["=== A ===", "=== B ===", "<rule ", "===", "\\u{200b}", "<|x|>", "/"]), texts), max_size=4)


def _lines(fences):
    """What guards: the lines of fences, without white space around them; of a run of backslashes one can never be rid."""
    return tuple(line.strip() for fence in fences for line in fence.splitlines() if line.strip().strip("\\"))


def _reads_as_fence(text, fences):
    return any(line.lstrip().startswith(fences) for line in text.splitlines())


# contract 10.6 and 11.12
@given(fences=fences, text=texts, fence_policy=policies, token_policy=policies, invisible_policy=policies)
def test_what_was_guarded_can_be_read_back(fences, text, fence_policy, token_policy, invisible_policy):
    guard = Guard(fences, fence_policy=fence_policy, token_policy=token_policy, invisible_policy=invisible_policy)
    guarded, _ = guard.guard(text)
    assert guard.unguard(guarded) == text


@given(fences=fences, text=texts, fence_policy=policies, token_policy=policies, invisible_policy=seen_policies, guards_ends=st.booleans())
def test_what_is_left_as_it_is_can_be_told_without_guarding_it(fences, text, fence_policy, token_policy, invisible_policy, guards_ends):
    policies = {"fence_policy": fence_policy, "token_policy": token_policy, "invisible_policy": invisible_policy}
    guard = Guard(fences, guards_ends=guards_ends, **policies)
    assert guard.leaves(text) == (guard.guard(text)[0] == text)


near_inert = st.one_of(texts, st.text("ab .\n\u200b\ufe0f\U000e0041\U0001f3f4\x07u{200}"), st.sampled_from(["x", "=", "<", "\\"]))


@given(
    fences=fences,
    drawn=st.lists(near_inert, max_size=5),
    place=st.integers(0, 20),
    fence_policy=policies,
    token_policy=policies,
    invisible_policy=seen_policies,
    guards_ends=st.booleans(),
)
def test_what_is_put_together_of_parts_of_inert_texts_is_left(
    fences, drawn, place, fence_policy, token_policy, invisible_policy, guards_ends
):
    policies = {"fence_policy": fence_policy, "token_policy": token_policy, "invisible_policy": invisible_policy}
    guard = Guard(fences, guards_ends=guards_ends, **policies)
    inert = [text for text in drawn if guard.is_inert(text)]
    assert guard.leaves("".join(text[place:] + text[:place] for text in inert))
    assert guard.is_inert("plain words, and a line end\n") or fences


@given(fences=fences, text=texts)
def test_no_hidden_text_is_left_and_no_more_than_that_is_changed(fences, text):
    guard = Guard(fences, invisible_policy="replace_hidden")
    guarded, found = guard.guard(text)
    assert next(iter_hidden(guarded), None) is None and guard.guard(guard.unguard(guarded))[0] == guarded
    assert guard.unguard(guarded) == replace_hidden(text)
    assert len(replace_hidden(text).encode()) <= len(text.encode()) and bool(replace_hidden(text)) == bool(text)
    assert sum(one.count for one in found if one.kind == "hidden_text") == sum(1 for _ in iter_hidden(text))


@given(fences=fences.map(_lines).filter(bool), text=texts, wrapped=st.booleans())
def test_no_guarded_line_reads_as_a_fence(fences, text, wrapped):
    guard = Guard((), fences) if wrapped else Guard(fences)
    text = f"{text}\n {fences[0]}{text}"
    guarded, found = guard.guard(text)
    assert not _reads_as_fence(guarded, fences)
    assert found
    assert not _reads_as_fence(guard.guard(guarded)[0], fences)


@given(left=texts, right=texts)
def test_guarded_texts_on_lines_of_their_own_read_as_none_either(left, right):
    guard = Guard(["=== A ===", "=== B ==="])
    joined = f"{guard.guard(left)[0]}\n{guard.guard(right)[0]}"
    assert not _reads_as_fence(joined, ("=== A ===", "=== B ==="))


@given(text=texts)
def test_a_text_without_findings_is_left(text):
    guard = Guard(["=== A ==="], invisible_policy="escape")
    guarded, found = guard.guard(text)
    if not found and "\\" not in text:
        assert guarded == text
    if all(finding.policy == "keep" for finding in found) and "\\" not in text:
        assert guarded == text


@given(fences=fences, text=stretched, repeated=st.sampled_from([1, 1, 40]))
def test_marks_of_fences_are_where_lines_begin_with_them(fences, text, repeated):
    text = f"{text}\n{''.join(fences)}" * repeated
    place, marks = 0, set()
    for line in text.splitlines(keepends=True):
        start = place + len(line) - len(line.lstrip())
        marks |= {
            (start, start + len(one))
            for fence in fences
            for one in map(str.strip, fence.splitlines())
            if one and text.startswith(one, start)
        }
        place += len(line)
    guard = Guard(fences, token_policy="keep")
    assert {(start, end) for _, start, end in guard.iter_marks(text)} == marks


tokens = st.lists(st.sampled_from(["<", "[", "<|", "|>", "[INST]", "<s>", "x", "\\", " ", "<own>", "\uff5c"]), max_size=8).map("".join)


@given(text=st.one_of(texts, tokens), repeated=st.sampled_from([1, 1, 40]))
def test_a_text_that_holds_no_token_is_told_by_a_glance(text, repeated):
    special = load_special_tokens(("<own>",))
    assert special.may_hold(text * repeated) or not list(special.iter_met(text * repeated))
