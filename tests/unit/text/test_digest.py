"""Digests are sha256, whoever computes them."""

import hashlib

import pytest

from promptc.text import json
from promptc.text.json import render_digest


@pytest.mark.parametrize("size", [0, 1, 55, 56, 64, 999_999, 1_000_000])
def test_a_digest_is_sha256(size):
    content = b"x" * size
    assert render_digest(content) == f"sha256:{hashlib.sha256(content).hexdigest()}"


def test_a_python_without_its_own_has_that_of_openssl(monkeypatch):
    monkeypatch.setattr(json, "_OWN", "no_such_module")
    assert render_digest(b"a") == f"sha256:{hashlib.sha256(b'a').hexdigest()}"
