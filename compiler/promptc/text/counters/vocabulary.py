"""The vocabularies that are shipped: what each is, where its table lies, and that it is the right one."""

from __future__ import annotations

import os

from promptc.diag.errors import PromptcError, fail
from promptc.diag.frozen import frozen
from promptc.diag.span import Span

_FOLDER: str | os.PathLike[str] = f"{__file__.rpartition('text')[0]}vocabularies"


@frozen
class Vocabulary:
    """`sha256` of OpenAI's rank file, which says which vocabulary it is; of the table made from it the size, a checksum (Adler-32) for
    each start, and the sha256. `tools/make_vocabularies.py` prints them."""

    sha256: str
    size: int
    check: int
    table: str


VOCABULARIES: dict[str, Vocabulary] = {
    "cl100k_base": Vocabulary(
        sha256="223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
        size=1_445_942,
        check=4_134_447_256,
        table="3a9a2b68447e5c9215aa38897353f509e00c26a4c5e1502c1df92a6dce62a9fa",
    ),
    "o200k_base": Vocabulary(
        sha256="446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
        size=2_997_718,
        check=636_687_761,
        table="636e0863fb883176bb4c972e8e8d141438d3d4048686235d8b43e38d66d537e7",
    ),
}


def find_vocabulary(name: str) -> str:
    """Where the table of a shipped vocabulary lies."""
    return f"{_FOLDER}/{name}.tokens"


def look_in(folder: str | os.PathLike[str]) -> str | os.PathLike[str]:
    """From now on tables are looked for in `folder`; where they were looked for before."""
    global _FOLDER
    before, _FOLDER = _FOLDER, folder
    return before


def check_vocabulary(name: str, path: str, span: Span | None = None) -> None:
    """PC0181 when there is no table at `path`, or one of another size. What is inside is looked at when it is opened."""
    try:
        size = os.stat(path).st_size  # noqa: PTH116 - pathlib takes longer to import than a render may
    except OSError:
        size = 0
    if size != VOCABULARIES[name].size:
        raise refuse_vocabulary(name, path, span)


def refuse_vocabulary(name: str, path: str, span: Span | None = None) -> PromptcError:
    """The error of a table at `path` that cannot be read or is another one than that of the vocabulary `name`."""
    from promptc.text.digest import render_digest

    try:
        with open(path, "rb") as file:  # noqa: PTH123 - as above
            digest = render_digest(file.read())
    except OSError as error:
        reason = error.strerror or "it cannot be read"
        return fail("PC0181", f"the vocabulary of `{name}` is missing: `{_shorten(path)}`: {reason}", span, help=_REINSTALL)
    return fail("PC0181", f"`{_shorten(path)}` is not the vocabulary of `{name}`: its digest is {digest}", span, help=_REINSTALL)


def _shorten(path: str) -> str:
    return os.path.basename(path)  # noqa: PTH119 - as above


_REINSTALL = "install promptc anew, or name a counter under `tokenizer: {fallback: ...}`"
