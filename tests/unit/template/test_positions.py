"""Every failing operation is told with its line and column: where what fails begins, in the file it stands in."""

import pytest

from tests.unit.template.oracle import ask_promptc
from tests.unit.template.rich_names import FILES, NAMES

PLACES = [
    ("Hello {{ usre.name }}", 1, 10),
    ("a\nb {{ state.nmae }}", 2, 12),
    ("{{ x }}{{ nope }}", 1, 11),
    ("\n\n  {{ 1 / 0 }}", 3, 6),
    ("{% for i in xs %}\n{{ i }}{{ i / (i - 2) }}\n{% endfor %}", 2, 11),
    ("{% if x %}\n  {{ 'a'\n  + 1 }}{% endif %}", 2, 6),
    ("{{ xs | join('x') }}{{ xs | first | upper | nope }}", 1, 45),
    ("{% macro m(a) %}\n{{ a.b }}{% endmacro %}\n{{ m(1) }}", 2, 6),
    ("{{ x.upper() }}", 1, 6),
    ("{% include 'crlf.j2' %}\n{{ nope }}", 2, 4),
    ("é東👩{{ nope }}", 1, 7),
    ("a\r\nb\r\n{{ nope }}", 3, 4),
    ("{{ '\n\n' }}{{ nope }}", 3, 8),
    ("{# a\nb #}{{ nope }}", 2, 8),
    ("{% raw %}{{ nope }}\n{% endraw %}{{ nope }}", 2, 16),
]


# contract 3.6
@pytest.mark.parametrize(("text", "line", "column"), PLACES)
def test_the_place_is_where_it_fails(text, line, column):
    (found,) = ask_promptc(text, NAMES, FILES).findings
    assert (found.span.line, found.span.column) == (line, column), found


@pytest.mark.parametrize("name", ["deep1.j2", "deep2.j2"])
def test_the_file_is_the_one_it_stands_in(name):
    files = {**FILES, "deep1.j2": "x\n{% include 'deep2.j2' %}", "deep2.j2": "\n\n {{ nope }}"}
    (found,) = ask_promptc(f"{{% include '{name}' %}}", NAMES, files).findings
    assert (found.span.file, found.span.line, found.span.column) == ("deep2.j2", 3, 5)
