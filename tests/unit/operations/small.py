"""A small pack with operations, and how tests write one."""

import json
from pathlib import Path
from typing import Any

import promptc

HEAD = """\
promptc: 1
name: log
version: 1.0.0
tokenizer: cl100k_base
budget: 2000
state: {schema: state.schema.json}
let: {hot: state.log | selectattr('hot') | list}
sections:
  - {id: main, role: user, text: "{{ state.title }}"}
"""
OPERATIONS = """\
operations:
  tidy:
    title: Digest and prune
    args: {keep: 2, summary: false, tone: plain}
    when: state.log | length > 4
    asks:
      digest: {pack: digest.yaml, check: {schema: digest.schema.json, max: 60}, else: digest.json.j2}
      summary:
        pack: ask
        when: args.summary
        check: {headings: [What happened, What is open], max: 40}
        else: {text: "{{ answers.digest.points | join('; ') }}"}
    edits:
      - {set: /digest, to: answers.digest.points}
      - {append: /history, to: answers.summary, when: args.summary}
      - {append: /notes, each: hot | map(attribute='text')}
      - {keep: /log, last: args.keep, archive: log}
      - {remove: /strain}
    say: "{{ removed.log }} of {{ state.log | length }} went."
  cool:
    edits:
      - {keep: /log, where: not item.hot, archive: hot}
"""
QUESTION = """\
promptc: 1
name: question
version: 1.0.0
tokenizer: cl100k_base
budget: 500
sections:
  - {id: task, role: system, text: "Write {{ args.tone }}."}
  - id: log
    role: user
    text: >-
      {{ state.log | map(attribute='text') | join(' ') }}
      {%- if answers.digest %} After {{ answers.digest.points | length }}.{% endif %}
"""
STATE_SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "title": {"type": "string", "default": "Untitled"},
        "log": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"text": {"type": "string"}, "hot": {"type": "boolean", "default": False}},
                "required": ["text"],
                "additionalProperties": False,
            },
            "default": [],
        },
        "digest": {"type": "array", "items": {"type": "string"}, "default": []},
        "history": {"type": "array", "items": {"type": "string"}, "default": ["the beginning"]},
        "notes": {"type": "array", "items": {"type": "string"}},
        "strain": {"enum": ["calm", "tense"], "default": "calm"},
    },
}
DIGEST_SCHEMA = {
    "type": "object",
    "properties": {"points": {"type": "array", "items": {"type": "string", "maxLength": 80}}},
    "required": ["points"],
    "additionalProperties": False,
}
FALLBACK = '{"points": {{ (state.digest + (hot | map(attribute="text") | list)) | json }}}'


def write_pack(folder: Path, operations: str = OPERATIONS, **files: str) -> Any:
    """The pack in `folder`, loaded; `files` by name, with `_` for `.` in front of the ending, take the place of its own."""
    texts = {
        "pack.yaml": HEAD + operations,
        "digest.yaml": QUESTION,
        "ask/pack.yaml": QUESTION,
        "state.schema.json": json.dumps(STATE_SCHEMA),
        "digest.schema.json": json.dumps(DIGEST_SCHEMA),
        "digest.json.j2": FALLBACK,
        **files,
    }
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return promptc.load(folder)
