"""Write docs/reference/codes.md from the table of diagnostic codes; with `--check`, fail if the file differs from it."""

import sys
from pathlib import Path

from promptc.diag.findings import Code, load_codes

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "reference" / "codes.md"

_FAMILIES = {
    "PC01": "Reading files: bytes, YAML, JSON, paths, vocabularies",
    "PC02": "The manifest",
    "PC03": "The state",
    "PC04": "Templates and expressions",
    "PC05": "Rendering and fitting",
    "PC06": "Checks of a pack",
    "PC07": "The command line and the library's calls",
    "PC09": "Cases and goldens",
}

_HEAD = """\
# Diagnostic codes

Made by `make codes` from the table that `promptc rule CODE` prints; do not edit by hand.
A code keeps its meaning for ever and is never used again for another. An *error* stops the render, a *warn* or *note* does not.
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
    """The whole document: a table of contents, then the codes by family."""
    families = [_render_family(prefix, title) for prefix, title in _FAMILIES.items()]
    return "\n".join([_HEAD, *(text for text in families if text)])


def _render_family(prefix: str, title: str) -> str:
    codes = [code for code in load_codes().values() if code.name.startswith(prefix)]
    if not codes:
        return ""
    listed = "\n".join(f"| [{code.name}](#{code.name.lower()}) | {code.level} | {_escape_cell(code.summary)} |" for code in codes)
    pages = "\n".join(_render_code(code) for code in codes)
    return f"## {title}\n\n| code | level | |\n| --- | --- | --- |\n{listed}\n\n{pages}"


def _render_code(code: Code) -> str:
    example = f"```\n{code.bad.strip()}\n```\n\n" if code.bad.strip() else ""
    return f"### {code.name}\n\n**{code.summary}** ({code.level})\n\n{code.why.strip()}\n\n{example}{code.fix.strip()}\n"


def _escape_cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
