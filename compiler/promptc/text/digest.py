"""Digests of bytes, as they are written in reports and file names."""

import sys

from promptc.diag.typed import Any

_OWN = "_sha2" if sys.version_info >= (3, 12) else "_sha256"
_LONG = 1_000_000
"""Bytes from which on the time to load OpenSSL, 2 ms, is less than what it saves."""


def render_digest(content: bytes) -> str:
    """`sha256:` and 64 hexadecimal digits."""
    digest: str = _find_sha256(len(content))(content).hexdigest()
    return f"sha256:{digest}"


def _find_sha256(size: int) -> Any:
    """OpenSSL's for much, or where it is there anyway; Python's own for little, unless Python was built without."""
    if size < _LONG and "_hashlib" not in sys.modules:
        try:
            return __import__(_OWN).sha256
        except ImportError:
            pass
    from hashlib import sha256

    return sha256
