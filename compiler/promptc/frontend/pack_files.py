"""The files of a pack as they are read: what its digest is taken of, and what tells later whether any of them has changed."""

import os
from pathlib import Path

from promptc.diag.findings import Span
from promptc.files.paths import read_pack_file, show_path
from promptc.files.reading import decode_text, read_file
from promptc.frontend.loaded_pack import Input, Inputs
from promptc.frontend.yaml import MAX_BYTES
from promptc.text.json import render_digest


class PackFiles:
    """Reads the files of one pack and remembers each."""

    def __init__(self) -> None:
        self._plain: dict[str, bytes] = {}
        self._inputs: dict[tuple[str, str], bytes] = {}
        self._unlinked: dict[str, None] = {}

    @property
    def inputs(self) -> Inputs:
        """Every file that was read, once, in the order of reading."""
        return Inputs(tuple(Input(*place, content) for place, content in self._inputs.items()), tuple(self._unlinked))

    def read_manifest(self, file: Path) -> bytes:
        """The bytes of a manifest. Raises as `files.read_file`: a link is none, also where the user passed its path."""
        content = read_file(file, MAX_BYTES)
        self._inputs["", str(file)] = self._plain[str(file)] = content
        return content

    def note_unlinked(self, path: Path) -> None:
        """Remembers that a path to a manifest is no link."""
        self._unlinked[str(path)] = None

    def read_raw(self, folder: str, name: str, span: Span) -> bytes:
        """As `read_pack_file`."""
        content = read_pack_file(folder, name, span)
        self._inputs[folder, name] = self._plain[str(Path(folder, name))] = content
        return content

    def read_text(self, folder: str, name: str, span: Span) -> str:
        """The text of a pack's file, as `decode_text` gives it; errors are those of `read_pack_file`, and PC0101 in the file itself."""
        content = read_pack_file(folder, name, span)
        text = decode_text(content, show_path(span, name))
        self._inputs[folder, name], self._plain[str(Path(folder, name))] = content, text.encode()
        return text

    def find_text(self, file: str) -> str:
        """The text of a file that was read, with line ends as `\\n`; empty where it was not."""
        text = self._plain.get(file, b"").decode("utf-8", "replace")
        return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")

    def render_digest(self, folder: str) -> str:
        """sha256 over (path relative to `folder`, digest) of every file, in the order of the paths, line ends normalised."""
        lines = []
        for file, content in self._plain.items():
            name = Path(os.path.relpath(file, folder)).as_posix()
            plain = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
            lines.append(f"{name}\0{render_digest(plain)}\n")
        return render_digest("".join(sorted(lines)).encode())
