"""Codes of `promptc apply` where it touches files and servers."""

from promptc.diag.codes.code import Code

APPLY_CODES: tuple[Code, ...] = (
    Code(
        name="PC0820",
        level="error",
        summary="the state is in use by another process",
        why="An operation holds the lock of the state, a file beside it, while it reads, changes and replaces it. Another held it for "
        "longer than was waited. A lock is never left behind: the system frees it when its holder ends.",
        bad="promptc apply . checkpoint state.json --no-model --wait 0   # while another is at it",
        fix="Try again, or wait longer: `--wait SECONDS`.",
    ),
    Code(
        name="PC0821",
        level="error",
        summary="the state is not the one that was expected",
        why="It changed since its digest was taken, since a model was asked, or between reading and writing by something that takes no "
        "lock. It was not written.",
        bad="promptc apply . checkpoint state.json --no-model --if-state sha256:4f1c…",
        fix="Look at the state as it is now, and repeat the operation. Answers that were kept need not be asked for again.",
    ),
    Code(
        name="PC0822",
        level="error",
        summary="a lock cannot be taken",
        why="The lock is a file beside the state; its folder is read-only, or the file system has no locks.",
        bad="promptc apply . checkpoint /mnt/cdrom/state.json --no-model",
        fix="Copy the state to a folder that can be written to, or write the new one elsewhere: `-o FILE`.",
    ),
    Code(
        name="PC0823",
        level="error",
        summary="the state cannot be written",
        why="The disk is full, the folder or the file is read-only, or the state is no regular file. It is as it was: it is replaced "
        "whole, by a file that has been written beside it, or not at all.",
        bad="promptc apply . checkpoint /dev/stdin --no-model",
        fix="Make room, or write the new state elsewhere: `-o FILE`, or `-` for both streams.",
    ),
    Code(
        name="PC0824",
        level="error",
        summary="an archive cannot be written",
        why="What an operation takes out of a state is kept before the state is replaced. Where it cannot be kept, nothing is replaced.",
        bad="promptc apply . checkpoint state.json --no-model --archive /no/such/disk",
        fix="Name a folder that can be written to: `--archive DIR`.",
    ),
    Code(
        name="PC0825",
        level="error",
        summary="an archive is damaged",
        why="The name of an archive file holds the sha256 of its content, and the content is another.",
        bad="sed -i s/harbour/quay/ state.json.archive/*.jsonl",
        fix="Take the file from a backup, or move it away.",
    ),
    Code(
        name="PC0826",
        level="error",
        summary="archived elements have no place in the state",
        why="The state has something else than a list where the elements were, or nothing that could hold one.",
        bad="promptc apply . --restore other.json state.json.archive/*.jsonl",
        fix="Restore into the state they came from.",
    ),
    Code(
        name="PC0827",
        level="error",
        summary="nobody said where to keep what goes",
        why="Archives are kept beside the state's file. A state from standard input has none.",
        bad="promptc apply . checkpoint - --no-model < state.json",
        fix="Name a folder: `--archive DIR`.",
    ),
    Code(
        name="PC0828",
        level="error",
        summary="answers are missing",
        why="Some of what the operation asks was answered, and some was not.",
        bad="promptc apply . checkpoint state.json --answer digest=digest.md   # which asks for a summary, too",
        fix="Give each: `--answer NAME=FILE`. `--requests` prints what is still to be asked, `--no-model` lets each `else` stand.",
    ),
    Code(
        name="PC0829",
        level="error",
        summary="options of `apply` do not go together",
        why="One call lists, prints requests, does an operation or restores. Standard input is read once. An endpoint needs a model.",
        bad="promptc apply . checkpoint - --answer digest=-",
        fix="Leave out one of them.",
    ),
    Code(
        name="PC0830",
        level="error",
        summary="a model cannot be asked without the extra `llm`",
        why="`--endpoint` needs httpx, which is not installed.",
        bad="promptc apply . checkpoint state.json --endpoint http://localhost:1234/v1 --model local",
        fix="pip install 'promptc-compiler[llm]'",
    ),
    Code(
        name="PC0831",
        level="error",
        summary="an endpoint cannot be reached, or takes too long",
        why="There was no connection, it broke, or the answer was not there in time. What may pass was tried again. Without `--strict` it "
        "is a warning, and what the pack has for this case stands.",
        bad="--endpoint http://localhost:1/v1 --model local",
        fix="Start the server, name the right URL, or allow more: `--timeout SECONDS`.",
    ),
    Code(
        name="PC0832",
        level="error",
        summary="an endpoint refuses",
        why="It answered with an HTTP status that is no success, also when asked again where that helps (429, 500 and above). Without "
        "`--strict` it is a warning, and what the pack has for this case stands.",
        bad="--endpoint https://api.example/v1 --model no-such-model",
        fix="See what it says: the key, the model, the limits.",
    ),
    Code(
        name="PC0833",
        level="error",
        summary="an endpoint's answer is none",
        why="It is not JSON in the form of the OpenAI API, holds no text, or is too long. Without `--strict` it is a "
        "warning, and what the pack has for this case stands.",
        bad="--endpoint http://localhost:8080/ --model local   # which is a web page",
        fix="Name the URL of an OpenAI-compatible API, which often ends in `/v1`.",
    ),
    Code(
        name="PC0834",
        level="warn",
        summary="an archive is of another pack",
        why="An archive that is named is put back whatever it is of; here another pack wrote it, so its elements may mean something else.",
        bad="promptc apply . --restore state.json other.json.archive/*.jsonl",
        fix="Restore it with the pack that wrote it, or leave it out.",
    ),
    Code(
        name="PC0840",
        level="warn",
        summary="a replaced value is not put back",
        why="An operation replaced a value and archived it. Since then something else changed what the operation left there: to "
        "put the old value back would lose that.",
        bad="promptc apply . --restore state.json state.json.archive/digest.*.jsonl      # the oldest of two, while the newer one is out",
        fix="Restore all, or the newest first. The file is JSON Lines: its second line is the value.",
    ),
    Code(
        name="PC0850",
        level="error",
        summary="the folder of the archives is a link",
        why="The folder beside a state is found by its name, and whoever gave you the state may have put a link there. Nothing is read or "
        "written where it leads.",
        bad="ln -s /somewhere/else state.json.archive",
        fix="Name the folder yourself: `--archive DIR`. A link that you name is followed.",
    ),
)
