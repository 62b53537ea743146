"""Complete request bodies (docs/reference/payloads.md).

`bodies` writes the messages of a prompt in a provider's format, `checks` refuses or reports what the provider does not accept, and `chat`
makes the text of a chat template.

Public: `bodies`, `chat`, `checks`.
"""
