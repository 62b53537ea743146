"""Static types: which values a text of a pack may have, how much it prints at most, and what is wrong with it in every state.

`infer` is the entry point. `types` defines the types and `algebra` combines and narrows them. `bounds` measures printed text, `trials` runs
expressions that read nothing, and `conditions` finds demands that contradict each other.

Public: `algebra`, `bounds`, `conditions`, `infer`, `trials`, `types`, `walk`.
"""
