"""Complete request bodies (docs/reference/payloads.md): `bodies` writes the messages of a prompt as a provider takes them, `checks` refuses
or tells what it does not take.

Public: `bodies`, `checks`.
"""
