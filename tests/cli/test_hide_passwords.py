"""No finding shows a password that stands in a URL."""

import json

import pytest

from promptc.cli.terminal import describe_diagnostic, hide_passwords, render_diagnostics
from promptc.diag.findings import Diagnostic, Span

SECRETS = ("hunter2", "p@ss:w/rd", "a%40b", "ü")


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize(
    "line", ['url: "postgresql://me:{}@db.example/prompts"', "x://:{}@h, y", "url: postgresql://h/d?sslmode=a&password={}&x=1"]
)
def test_a_password_is_starred(line, secret):
    shown = hide_passwords(line.format(secret))
    assert shown == line.format("*" * len(secret))


PLAIN = ("a: b@c", "https://example.org/a:b", "postgresql://me@h:5432/d", "time 12:30 @ noon", "see http://h:8080/x y@z", "mailto:me@h")


@pytest.mark.parametrize("line", PLAIN)
def test_what_is_none_stays(line):
    assert hide_passwords(line) == line


def test_a_line_that_was_cut_and_a_url_without_its_scheme():
    assert hide_passwords('url: "me:hunter2@h"') == 'url: "me:*******@h"'
    assert hide_passwords("x://me:secr", is_cut=True) == "x://me:****"
    assert hide_passwords("cret@h/d more", follows_cut=True) == "****@h/d more"


def test_neither_text_nor_json_shows_it():
    url = "postgresql://me:hunter2@h/d"
    found = Diagnostic("PC0123", f"cannot read `{url}`", Span("pack.yaml", 3, 8, f"  url: {url}"), f"correct {url}")
    assert "hunter2" not in render_diagnostics([found]) + json.dumps(describe_diagnostic(found))
    assert "me:*******@h/d" in render_diagnostics([found])
