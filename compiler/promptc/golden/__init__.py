"""Cases and their goldens: what a pack is expected to make of its fixtures, whether it does, and which edit moved it.

Cases are read (`cases`), run (`running`) and judged, one or thousands, with what differs kept pending for someone's word (`verdicts`).
`inputs` tells what a case is made of and whether any of it changed, `cause` which edit moved a golden: it puts `edits` back until it holds.
`git` is what both know of a repository.

Public: `cases`, `cause`, `git`, `inputs`, `running`, `verdicts`.
"""
