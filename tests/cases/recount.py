"""Token counts of our own: tiktoken over the ranks that the shipped tables are made from, without the compiler's counters."""

import base64
import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import tiktoken

from tests.cases.case import ROOT

_PATTERNS = {
    "cl100k_base": "|".join(
        [
            r"""'(?i:[sdmt]|ll|ve|re)""",
            r"""[^\r\n\p{L}\p{N}]?+\p{L}++""",
            r"""\p{N}{1,3}+""",
            r""" ?[^\s\p{L}\p{N}]++[\r\n]*+""",
            r"""\s++$""",
            r"""\s*[\r\n]""",
            r"""\s+(?!\S)""",
            r"""\s""",
        ]
    ),
    "o200k_base": "|".join(
        [
            r"""[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?""",
            r"""[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?""",
            r"""\p{N}{1,3}""",
            r""" ?[^\s\p{L}\p{N}]+[\r\n/]*""",
            r"""\s*[\r\n]+""",
            r"""\s+(?!\S)""",
            r"""\s+""",
        ]
    ),
}
_MEDIA = ("image", "document", "audio")
_UNPROVIDED = {"message": 3, "prompt": 3, "role": True, "tools": 0, "response": 0}


def count_text(name: str, text: str) -> int:
    """Tokens of a text; `chars/4` is a quarter of its characters, rounded up."""
    return -(-len(text) // 4) if name == "chars/4" else len(load_encoding(name).encode_ordinary(text))


def count_framed(manifest: str, name: str, text: str) -> int:
    """Tokens of what a chat template made, by the tokenizer file beside a manifest, special tokens as it finds them."""
    from tokenizers import Tokenizer

    file = Path(manifest).parent / name.removeprefix("hf:")
    return len(Tokenizer.from_file(str(file)).encode(text, add_special_tokens=False).ids)


def count_messages(
    name: str,
    messages: Sequence[tuple[str, Any]],
    offered: Sequence[Any] = (),
    overhead: Mapping[str, Any] = _UNPROVIDED,
    speakers: Sequence[str] = (),
) -> int:
    """Tokens of (role, content) pairs with the stated overhead, and of what is offered beside them: three for each message and its role's
    name and three for the whole, unless a provider's account says otherwise. `speakers` are the names of who speaks.
    """
    added: int = overhead["message"] * len(messages) + overhead["prompt"] + count_offered(name, offered, overhead)
    contents = [_write_content(content) for _, content in messages]
    if speakers and overhead["name"] is not None:
        added += overhead["name"] * len(speakers)
        contents += speakers
    if name == "chars/4":
        return -(-sum(map(len, contents)) // 4) + added
    named = sum(count_text(name, role) for role, _ in messages) if overhead["role"] else 0
    return sum(count_text(name, content) for content in contents) + named + added


def count_offered(name: str, offered: Sequence[Any], overhead: Mapping[str, Any] = _UNPROVIDED) -> int:
    """Tokens of tools and a response schema: of the JSON of each, keys sorted and without spaces, and the stated overhead of all."""
    added: int = overhead["tools"] + overhead["response"]
    return sum(count_text(name, _write(one)) for one in offered) + added


def _write_content(content: Any) -> str:
    """A content as it is counted: parts on lines of their own, those that are no text as JSON. Media count by themselves."""
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] if part["type"] == "text" else _write(_blind(part)) for part in content if part["type"] not in _MEDIA)


def _blind(part: Any) -> Any:
    """A result without the media that a tool gave."""
    if part["type"] != "tool_result" or not isinstance(part.get("content"), list):
        return part
    return {**part, "content": [one for one in part["content"] if not _is_seen(one)]}


def _is_seen(value: Any) -> bool:
    return isinstance(value, dict) and value.get("type") in _MEDIA and isinstance(value.get("source"), dict)


def _write(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


@cache
def load_encoding(name: str) -> tiktoken.Encoding:
    """tiktoken's encoding of a vocabulary, which a pack may name with `tiktoken:` before it."""
    name = name.removeprefix("tiktoken:")
    lines = (ROOT / "tools" / "ranks" / f"{name}.tiktoken").read_bytes().splitlines()
    ranks = {base64.b64decode(token): int(rank) for token, rank in (line.split() for line in lines if line)}
    return tiktoken.Encoding(f"recount-{name}", pat_str=_PATTERNS[name], mergeable_ranks=ranks, special_tokens={})
