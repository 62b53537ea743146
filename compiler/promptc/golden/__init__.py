"""Cases and their goldens: what a pack should make of its fixtures, whether it does, and which edit changed the result.

`cases` reads cases, `running` runs them, and `verdicts` judges them and keeps differences pending until somebody settles them. `inputs`
says whether any input of a case changed, `cause` which edit moved a golden: it puts `edits` back until the case holds. `git` reads
repositories.

Public: `cases`, `cause`, `git`, `inputs`, `running`, `verdicts`.
"""
