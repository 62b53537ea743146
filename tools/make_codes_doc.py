"""Write docs/reference/codes.md from the table of diagnostic codes; with `--check`, fail if the file differs from it."""

import re
import sys
from pathlib import Path

from promptc.diag.findings import FAMILIES, Code, load_codes

_ROOT = Path(__file__).resolve().parents[1]
DOCUMENT = _ROOT / "docs" / "reference" / "codes.md"
_TABLE = _ROOT / "compiler" / "promptc" / "diag" / "codes.toml"
_GROUP = re.compile(r"^# (PC\d{4}) to (PC\d{4})\. (.+)$", re.MULTILINE)

_HEAD = """\
# Diagnostic codes

Every finding has a code. `promptc rule PC0201` prints the entry of a code in the terminal. `promptc rule PC02` lists a family of codes.

An *error* stops the command. A *warn* or a *note* does not. A code never changes its meaning, so you can link to it:
the address of an entry ends with the code, as in `codes.html#pc0201`.

<!-- `make codes` writes this page from compiler/promptc/diag/codes.toml. Edit that file instead of this page. -->
"""


def main(arguments: list[str]) -> int:
    text = render_codes_doc()
    if "--check" not in arguments:
        DOCUMENT.write_text(text, encoding="utf-8", newline="\n")
        return 0
    if not DOCUMENT.exists() or DOCUMENT.read_text(encoding="utf-8") != text:
        print("docs/reference/codes.md differs from the table of codes; run `make codes`", file=sys.stderr)
        return 1
    return 0


def render_codes_doc() -> str:
    """Return the whole document: a table of contents, then the codes by family."""
    families = [_render_family(prefix, title) for prefix, title in FAMILIES.items()]
    return "\n".join([_HEAD, _render_contents(), *(text for text in families if text)])


def _render_contents() -> str:
    """Return a table of the groups of codes, from the comments in the table of codes. Each row links to the first code of its group."""
    groups = _GROUP.findall(_TABLE.read_text(encoding="utf-8"))
    rows = []
    for least, most, title in groups:
        names = [name for name in load_codes() if least <= name <= most]
        span = f"{names[0]} to {names[-1]}" if len(names) > 1 else names[0]
        rows.append(f"| [{span}](#{names[0].lower()}) | {_escape_cell(title)} |\n")
    return f"| codes | what they are about |\n| --- | --- |\n{''.join(rows)}"


def _render_family(prefix: str, title: str) -> str:
    codes = [code for code in load_codes().values() if code.name.startswith(prefix)]
    if not codes:
        return ""
    listed = "\n".join(f"| [{code.name}](#{code.name.lower()}) | {code.level} | {_escape_cell(code.summary)} |" for code in codes)
    pages = "\n".join(_render_code(code) for code in codes)
    return f"## {title}\n\n| code | level | what is wrong |\n| --- | --- | --- |\n{listed}\n\n{pages}"


def _render_code(code: Code) -> str:
    good = f"\nWrite instead:\n\n{_fence(code.good)}\n" if code.good else ""
    head = f"### {code.name}\n\n**{code.summary}** ({code.level})\n\n{code.why.strip()}"
    return f"{head}\n\nExample:\n\n{_fence(code.bad)}\n\n{code.fix.strip()}\n{good}"


def _fence(text: str) -> str:
    return f"```\n{text.strip()}\n```"


def _escape_cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
