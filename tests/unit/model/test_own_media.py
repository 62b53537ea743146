"""Rules for media in a table of the user's: they go before those of promptc, and what is wrong in them is told."""

import pytest

import promptc
from promptc.cache import Cache
from promptc.diag.findings import PromptcError
from promptc.model.budget import load_models
from tests.pictures import link

RULE = """
[[media]]
models = ["our-finetune"]
how = "tiles"
numbers = {base = 10, tile_tokens = 20, side = 2048, short = 768, tile = 512}
"""
PACK = """
promptc: 1
name: album
version: 1.0.0
tokenizer: o200k_base
budget: 20000
output: {format: messages, models: {openai: our-finetune}}
sections:
  - id: chat
    items: {from: state.chat, message: {role: item.role, content: item.content, parts: [text, image]}}
"""
STATE = {"chat": [{"role": "user", "content": [link(width=1024, height=1024)]}]}


@pytest.fixture
def write(tmp_path):
    """Writes a table of models with these lines below its date; gives its path."""

    def call(text, name="models.toml"):
        file = tmp_path / name
        file.write_text(f"as_of = 2027-02-03\n{text}", encoding="utf-8")
        return str(file)

    return call


@pytest.fixture
def album(tmp_path):
    (tmp_path / "pack.yaml").write_text(PACK, encoding="utf-8")
    return tmp_path


def _count(pack):
    report = pack.render(STATE, format="openai").report
    return report["sections"][0]["items"][0]["media"][0]["tokens"], report["overhead"]["media"]["as_of"]


# contract 4.43
def test_the_users_rule_counts_a_model_that_promptc_does_not_know(album, write):
    assert _count(promptc.load(album, models=write(RULE))) == (10 + 4 * 20, "2027-02-03")
    with pytest.raises(PromptcError) as failed:
        _count(promptc.load(album))
    assert [one.code for one in failed.value.diagnostics] == ["PC0586"]
    assert "`[[media]]`" in failed.value.diagnostics[0].help and not failed.value.diagnostics[0].help.endswith(" ")


def test_it_goes_before_a_rule_of_promptc(album, write):
    text = (album / "pack.yaml").read_text(encoding="utf-8").replace("our-finetune", "gpt-4o")
    (album / "pack.yaml").write_text(text, encoding="utf-8")
    assert _count(promptc.load(album))[0] == 765
    assert _count(promptc.load(album, models=write(RULE.replace("our-finetune", "gpt"))))[0] == 90


def test_a_pack_that_is_kept_follows_the_table_that_is_given(album, write, tmp_path):
    """The rules are compiled into the pack: another table, or another content of it, is another entry."""
    cache, found = Cache(tmp_path / "cache"), []
    other = RULE.replace("base = 10", "base = 11")
    for text, name in ((RULE, "models.toml"), (other, "other.toml"), (RULE, "models.toml"), (other, "models.toml")):
        table = write(text, name)
        with promptc.api.Pack.load(str(album), cache, models=table) as pack:
            found.append(_count(pack)[0])
    assert found == [90, 91, 90, 91]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (RULE.replace('how = "tiles"\n', ""), "does not say how pictures are counted"),
        (RULE.replace("tiles", "tile"), "does not say how pictures are counted"),
        (RULE.replace("short = 768, ", ""), "is missing the number `short`"),
        (RULE.replace("short = 768", "shortest = 768"), "has the number `shortest`, which `tiles` does not use"),
        (RULE.replace("short = 768", 'short = "768"'), "has a `short` that is not a whole number"),
        (RULE.replace("short = 768", "short = 0"), "has a `short` that is not a whole number"),
        (RULE.replace("numbers = {base", "numbers = [1]\nx = {base"), "has the unknown key `x`"),
        (RULE.replace('["our-finetune"]', "[]"), "does not list its models"),
        (RULE.replace('["our-finetune"]', '"our-finetune"'), "does not list its models"),
        (RULE + "detail.close = {}\n", "has the unknown detail `close`"),
        (RULE + "detail = 3\n", "has `numbers` or `detail` of the wrong form"),
        (RULE + "page = -1\n", "has a `page` that is not a whole number"),
        (RULE + 'estimate = "yes"\n', "has an `estimate` that is neither true nor false"),
        (RULE + "source = 3\n", "has a `source` that is not a string"),
        (RULE + "[[media.example]]\nimage = [1024, 1024]\ntokens = 91\n", "counts 90 tokens for its example of 91"),
        (RULE + "[[media.example]]\nimage = [1024]\ntokens = 90\n", "has an `example` of the wrong form"),
        (RULE + "[[media.example]]\nimage = [9, 9]\ndetail = {}\ntokens = 90\n", "has an `example` of the wrong form"),
        (RULE + "[[media.example]]\nimage = [9, 9]\ndetail = [1]\ntokens = 90\n", "has an `example` of the wrong form"),
        (RULE + "[[media.example]]\naudio = 3\ntokens = 90\n", "has an `example` that it does not count"),
        ("media = 3\n", "`media` is not a list of rules"),
    ],
)
def test_what_is_wrong_in_a_rule_is_told_with_its_line(text, said, write):
    with pytest.raises(PromptcError) as failed:
        load_models(write(text))
    found = failed.value.diagnostics
    assert {one.code for one in found} == {"PC0756"} and any(said in one.message for one in found), found
    assert all(one.help and one.span.line > 1 for one in found)


@pytest.mark.parametrize(
    "text",
    [
        RULE + "[[media.example]]\nimage = [1024, 1024]\ntokens = 90\n",
        RULE + "detail.low = {tile_tokens = 0}\ndetail.auto = {}\npage = 200\nsecond = 20\nestimate = true\nsource = 'our page'\n",
        "[[media]]\nmodels = ['a', 'b']\nhow = 'level'\ndetail.auto = {tokens = 300}\ndetail.high = {tokens = 900}\n",
        "[[media]]\nmodels = ['a']\nhow = 'crops'\nnumbers = {small = 384, tile_tokens = 258}\n",
    ],
)
def test_what_is_right_is_taken(text, write):
    assert load_models(write(text)).media


def test_the_rules_of_promptc_are_right_by_the_same_checks():
    import tomllib
    from pathlib import Path

    from promptc.frontend import sections
    from promptc.model.media import iter_wrong_rule

    table = tomllib.loads(Path(sections.__file__).with_name("media.toml").read_text(encoding="utf-8"))
    assert [(one["models"], list(iter_wrong_rule(one))) for one in table["rule"] if list(iter_wrong_rule(one))] == []
