"""Canonical JSON, and digests of it."""

import hashlib
import math
from types import MappingProxyType

import pytest

from promptc.text import json
from promptc.text.json import render_canonical_json, render_digest


def test_keys_stand_in_code_point_order():
    assert (
        render_canonical_json({"b": 1, "a": 2, "é": 3, "Z": 4, "\U0001f600": 5, "ﬀ": 6}) == '{"Z":4,"a":2,"b":1,"é":3,"ﬀ":6,"\U0001f600":5}'
    )


def test_values_are_written_as_they_read_back():
    value = [None, True, 0.1, 1e16, -0.0, 10**30, 'q"\\\n\x00é']
    assert render_canonical_json(value) == '[null,true,0.1,1e+16,-0.0,1000000000000000000000000000000,"q\\"\\\\\\n\\u0000é"]'


def test_mappings_and_tuples_are_values():
    assert render_canonical_json(MappingProxyType({"a": (1, 2)})) == '{"a":[1,2]}'


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_in_json_is_refused(value):
    with pytest.raises(ValueError, match="not JSON compliant"):
        render_canonical_json({"a": value})


def test_other_kinds_are_refused():
    with pytest.raises(TypeError, match="set is not a JSON value"):
        render_canonical_json({1})


def test_a_digest_names_its_algorithm():
    assert render_digest(b"") == "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


# --- Digests are sha256, whoever computes them ---
@pytest.mark.parametrize("size", [0, 1, 55, 56, 64, 999_999, 1_000_000])
def test_a_digest_is_sha256(size):
    content = b"x" * size
    assert render_digest(content) == f"sha256:{hashlib.sha256(content).hexdigest()}"


def test_a_python_without_its_own_has_that_of_openssl(monkeypatch):
    monkeypatch.setattr(json, "_OWN", "no_such_module")
    assert render_digest(b"a") == f"sha256:{hashlib.sha256(b'a').hexdigest()}"
