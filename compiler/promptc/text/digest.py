"""Digests of bytes, as they are written in reports and file names."""

import hashlib


def render_digest(content: bytes) -> str:
    """`sha256:` and 64 hexadecimal digits."""
    return "sha256:" + hashlib.sha256(content).hexdigest()
