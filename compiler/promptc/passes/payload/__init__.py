"""Complete request bodies (docs/reference/payloads.md): `bodies` writes the messages of a prompt as a provider takes them, `checks` refuses
or tells what it does not take; `chat` makes the text of a chat template.

Public: `bodies`, `chat`, `checks`.
"""
