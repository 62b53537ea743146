"""Archives put back: whatever was done to a list, all of them together give what it would be without the operations."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from promptc.diag.frozen import replace
from promptc.operations.archive import mark_element
from promptc.operations.restore import restore
from promptc.operations.results import Archived
from tests.size import count_examples

_KINDS = ("append", "append", "last", "where", "stale", "restore")
_STEPS = st.lists(st.tuples(st.sampled_from(_KINDS), st.integers(0, 6)), max_size=14)


def _archive(elements, kept):
    gone = [at for at, element in enumerate(elements) if element not in kept]
    places = []
    for at in gone:
        if places and places[-1][1] == at:
            places[-1][1] = at + 1
        else:
            places.append([at, at + 1])
    return Archived(
        name="log",
        pack="p",
        version="1.0.0",
        operation="prune",
        pointer="/log",
        length=len(elements),
        places=tuple((start, stop) for start, stop in places),
        kept=tuple(mark_element(element) for element in elements if element in kept),
        state="sha256:0",
        file="state.json",
        elements=tuple(elements[at] for at in gone),
    )


class _Log:
    """A list to which operations are done, and all that was ever in it."""

    def __init__(self):
        self.now, self.all, self.archives = [], [], []

    def append(self, number):
        for _ in range(number + 1):
            self.all.append({"n": len(self.all)})
            self.now.append(self.all[-1])

    def keep(self, kept, *, stale=False):
        """With `stale` it is killed when the archive is written and the state is not."""
        if len(kept) < len(self.now):
            self.archives.append(_archive(self.now, kept))
            if not stale:
                self.now = kept

    def do(self, kind, number):
        if kind == "append":
            self.append(number)
        elif kind == "restore":
            self.now = restore(self.now, self.archives[::-1][:number]).elements
        elif kind == "where":
            self.keep([element for element in self.now if (element["n"] + number) % 3])
        else:
            self.keep(self.now[max(0, len(self.now) - number - 1) :], stale=kind == "stale")


def _play(steps):
    log = _Log()
    for kind, number in steps:
        log.do(kind, number)
    return log


@given(_STEPS)
@settings(max_examples=count_examples(400), deadline=None)
def test_all_archives_give_all_that_ever_was_in_order(steps):
    log = _play([step for step in steps if step[0] != "restore"])
    restored = restore(log.now, log.archives[::-1])
    assert restored.elements == log.all
    assert sum(restored.counts) == len(log.all) - len(log.now) and not any(restored.unsure)


# contract 9.24 and 9.25
@given(_STEPS, st.randoms(use_true_random=False))
@settings(max_examples=count_examples(400), deadline=None)
def test_in_any_order_and_in_several_calls_nothing_is_lost_or_doubled(steps, random):
    log = _play(steps)
    archives = list(log.archives)
    random.shuffle(archives)
    elements = log.now
    while archives:
        size = random.randint(1, len(archives))
        elements = restore(elements, archives[:size]).elements
        archives = archives[size:]
    assert sorted(element["n"] for element in elements) == list(range(len(log.all)))
    numbers = [element["n"] for element in elements if element in log.now]
    assert numbers == [element["n"] for element in log.now], "what is there is not moved"


@given(_STEPS, st.lists(st.integers(0, 20), max_size=12))
@settings(max_examples=count_examples(400), deadline=None)
def test_one_by_one_and_again_in_any_order_nothing_is_lost_or_doubled(steps, numbers):
    log = _play(steps)
    elements = log.now
    for number in (*numbers, *range(len(log.archives)), *range(len(log.archives))[::-1]):
        elements = restore(elements, log.archives[number : number + 1]).elements
    assert sorted(element["n"] for element in elements) == list(range(len(log.all)))


def test_one_by_one_and_again_nothing_is_doubled():
    zero, one, two, three = ({"n": number} for number in range(4))
    dropped = [_archive([zero, one, two], [zero, two]), _archive([zero, two], [zero])]
    elements = [zero]
    for archive in (*dropped, *dropped):
        elements = restore(elements, [archive]).elements
    assert elements == [zero, two, one], "what went after it tells nothing of `one`"
    tailed = [_archive([zero, one], [one]), _archive([one, two], [two]), _archive([two, three], [three])]
    elements = [three]
    for archive in (*tailed, *tailed):
        elements = restore(elements, [archive]).elements
    assert sorted(element["n"] for element in elements) == [0, 1, 2, 3]


@given(_STEPS)
@settings(max_examples=count_examples(400), deadline=None)
def test_twice_is_once(steps):
    log = _play(steps)
    once = restore(log.now, log.archives)
    twice = restore(once.elements, log.archives)
    assert twice.elements == once.elements and not any(twice.counts)
    assert not any(left for archive, left in zip(log.archives, twice.unsure, strict=True) if archive.kept), "no two elements are equal"


@given(st.lists(st.sampled_from("ab"), max_size=7), st.integers(0, 6), st.lists(st.sampled_from("abc"), max_size=4))
@settings(max_examples=count_examples(400), deadline=None)
def test_equal_elements_come_back_too(before, keep, after):
    """Unless the list begins with the whole list of then, or has what only went: that cannot be told from one that was put back."""
    kept = before[len(before) - min(keep, len(before)) :]
    gone = before[: len(before) - len(kept)]
    archive = Archived(
        "log", "p", "1.0.0", "prune", "/log", len(before), ((0, len(gone)),) if gone else (),
        tuple(map(mark_element, kept)), "sha256:0", "state.json", tuple(gone),
    )  # fmt: skip
    now = [*kept, *after]
    restored = restore(now, [archive])
    if kept and now[: len(before)] != before and not set(after) & (set(gone) - set(kept)):
        assert restored.elements == [*before, *after]
    assert restore(restored.elements, [archive]).elements == restored.elements


@given(st.lists(st.tuples(st.integers(0, 6), st.lists(st.sampled_from("abcd"), max_size=6)), max_size=5))
@settings(max_examples=count_examples(400), deadline=None)
def test_where_equal_elements_hide_a_loss_it_is_said(steps):
    everything, now, archives = [], [], []
    for last, added in steps:
        gone, kept = now[: max(len(now) - last, 0)], now[max(len(now) - last, 0) :]
        if gone:
            archives.insert(0, replace(_archive(gone, []), length=len(now), kept=tuple(map(mark_element, kept))))
        now = [*kept, *added]
        everything += added
    restored = restore(now, archives)
    assert any(restored.unsure) or not Counter(everything) - Counter(restored.elements)
    for archive, count, left in zip(archives, restored.counts, restored.unsure, strict=True):
        assert count + left <= len(archive.elements)


# contract 9.25
def test_an_element_stands_where_its_neighbours_are():
    letters = [{"n": letter} for letter in "abcdef"]
    archive = _archive(letters, [letters[0], letters[2], letters[5]])
    a, _, c, _, _, f = letters
    new = {"n": "new"}
    assert restore([a, c, f, new], [archive]).elements == [*letters, new]
    assert restore([c, new, f], [archive]).elements == [letters[1], c, new, letters[3], letters[4], f]
    assert restore([a, new], [archive]).elements == [a, *letters[1:2], *letters[3:5], new]
    assert restore([new], [archive]).elements == [letters[1], letters[3], letters[4], new]


def test_it_takes_no_longer_than_the_list_is_long():
    """Ten thousand elements in a thousand archives, and one of ten thousand that no neighbour of its own survived."""
    log = _Log()
    for _ in range(1000):
        log.append(9)
        log.keep(log.now[-5:])
    assert restore(log.now, log.archives[::-1]).elements == log.all
    lone = _archive(log.all, log.all[-1:])
    assert restore([{"n": -1}], [lone]).elements == [*log.all[:-1], {"n": -1}]
