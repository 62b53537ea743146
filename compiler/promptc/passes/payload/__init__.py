"""Complete request bodies: from the messages of a prompt to what a provider takes (docs/payloads.md).

Public: `bodies`, `checks`
"""
