"""Where in a state a mapping or list stands."""

from promptc.model.state import Pointers

STATE = {"a": {"x/y~z": [{"n": 1}, []]}, "": {}, "n": 3}


def test_every_mapping_and_list_has_its_pointer():
    pointers = Pointers(STATE)
    assert pointers.find(STATE) == ""
    assert pointers.find(STATE["a"]["x/y~z"]) == "/a/x~1y~0z"
    assert pointers.find(STATE["a"]["x/y~z"][0]) == "/a/x~1y~0z/0"
    assert pointers.find(STATE["a"]["x/y~z"][1]) == "/a/x~1y~0z/1"
    assert pointers.find(STATE[""]) == "/"


def test_what_is_equal_but_another_has_none():
    assert Pointers(STATE).find({"n": 1}) is None and Pointers(STATE).find([]) is None
    assert Pointers(STATE).find(3) is None and Pointers(STATE).find("n") is None


def test_what_the_state_holds_twice_has_none_nor_has_what_it_holds():
    shared = {"inner": {}}
    pointers = Pointers({"a": shared, "b": shared})
    assert pointers.find(shared) is None and pointers.find(shared["inner"]) is None


def test_a_path_is_enough_for_what_stands_there():
    pointers = Pointers(STATE)
    assert pointers.find_at(STATE["a"]["x/y~z"], {("state", "a", "x/y~z"), ("item",)}) == "/a/x~1y~0z"
    assert pointers.find_at(STATE["a"], {("state", "a", "x/y~z"), ("state", "n", "m")}) is None
    assert pointers.find_at(STATE, {("state",)}) == ""
