"""Write the files that promptc counts tokens with: `python tools/make_vocabularies.py [--check]`.

The tables in `compiler/promptc/vocabularies` are made from the rank files in `tools/ranks`, whose sha256 is checked; their layout is
described in `promptc.text.counters.bpe`. The classes of all code points, in the same folder, come from tiktoken's regex engine. Nothing is
downloaded; `tools/fetch_ranks.py` does that.
"""

import hashlib
import struct
import sys
from base64 import b64decode
from itertools import groupby
from pathlib import Path
from zlib import adler32, crc32

from tiktoken import Encoding

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "compiler"))

from promptc.text.counters.bpe import HEAD, MAGIC, VOCABULARIES, vocabulary_path  # noqa: E402
from promptc.text.counters.splitting import FILE, LETTER, LOWER, MARK, NUMBER, OTHER, STAND_INS, UPPER, WHITE  # noqa: E402

RANKS = ROOT / "tools" / "ranks"
PATTERNS = {
    UPPER: r"[\p{Lu}\p{Lt}]",
    LOWER: r"\p{Ll}",
    LETTER: r"[\p{Lm}\p{Lo}]",
    MARK: r"\p{M}",
    NUMBER: r"\p{N}",
    WHITE: r"\s",
    OTHER: r"[^\s\p{L}\p{M}\p{N}]",
}


def main() -> int:
    """Write the files, or with `--check` report those that differ from what would be written."""
    files = {Path(vocabulary_path(name)): build_table(load_ranks(name)) for name in VOCABULARIES} | {Path(FILE): build_classes()}
    stale = [path for path, content in files.items() if not path.is_file() or path.read_bytes() != content]
    if "--check" in sys.argv[1:]:
        print("".join(f"{path.relative_to(ROOT)} is not what tools/make_vocabularies.py writes\n" for path in stale), end="")
        return int(bool(stale))
    for path in stale:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(files[path])
    for path, content in files.items():
        print(f"{path.name}: size={len(content)}, check={adler32(content)}, table={hashlib.sha256(content).hexdigest()}")
    return 0


def load_ranks(name: str) -> bytes:
    """Return the rank file of a vocabulary. Ends the program if its sha256 is not the recorded one."""
    raw = (RANKS / f"{name}.tiktoken").read_bytes()
    if hashlib.sha256(raw).hexdigest() != VOCABULARIES[name].sha256:
        sys.exit(f"tools/ranks/{name}.tiktoken is not the rank file of {name}")
    return raw


def build_table(raw: bytes) -> bytes:
    """Return the table of a rank file, which has a line `base64 rank` for each token, with ranks ascending from 0."""
    tokens = _parse_tokens(raw)
    slots, place = [0] * (2 * len(tokens)), 0
    for token in tokens:
        slot = crc32(token) % len(slots)
        while slots[slot]:
            slot = (slot + 1) % len(slots)
        slots[slot] = place << 8 | len(token)
        place += len(token)
    content = struct.pack(f"<{len(slots)}I", *slots) + b"".join(tokens)
    head = MAGIC + hashlib.sha256(raw).digest() + struct.pack("<4I", len(slots), place, 0, 0)
    assert len(head) == HEAD and place < 1 << 22
    return head + content


def _parse_tokens(raw: bytes) -> list[bytes]:
    lines = [line.split() for line in raw.splitlines()]
    tokens = [b64decode(token) for token, _ in lines]
    if [int(rank) for _, rank in lines] != list(range(len(lines))) or not all(0 < len(token) < 256 for token in tokens):
        sys.exit("the ranks are not in order, or a token is too long")
    return tokens


def build_classes() -> bytes:
    """Return the runs of code points of one class, by tiktoken's regex engine. Surrogates, which texts never contain, count as others."""
    codes = [code for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    text = "".join(map(chr, codes))
    classes = dict.fromkeys(range(0x110000), STAND_INS.index(OTHER))
    met = 0
    for stand_in, pattern in PATTERNS.items():
        found = _find_all(pattern, text)
        met += len(found)
        classes.update(dict.fromkeys(map(ord, found), STAND_INS.index(stand_in)))
    if met != len(codes):
        sys.exit("the classes do not part the code points")
    runs = [next(run)[0] << 3 | kind for kind, run in groupby(classes.items(), key=lambda item: item[1])]
    return struct.pack(f"<{len(runs)}I", *runs)


def _find_all(pattern: str, text: str) -> str:
    """Return all that `pattern` matches in `text`, joined."""
    encoding = Encoding("classes", pat_str=pattern, mergeable_ranks={bytes((byte,)): byte for byte in range(256)}, special_tokens={})
    return bytes(encoding.encode_ordinary(text)).decode()


if __name__ == "__main__":
    sys.exit(main())
