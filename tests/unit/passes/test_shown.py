"""Pictures and documents in the results of tools: read, counted, guarded and placed where the provider takes them there."""

from typing import Any

import pytest

from promptc.diag.findings import PromptcError
from promptc.model.messages import PROVIDERS
from tests.cases.recount import count_messages
from tests.pictures import PDF, encode, link, make_png, show
from tests.property.drawing.packs import Drawn
from tests.property.load_drawn import load_drawn
from tests.published import MODELS, check_published

TEXT = {"type": "text", "text": "A map."}
PNG = show(make_png(1024, 1024))
USE = {"type": "tool_use", "id": "a", "name": "look", "input": {}}
KINDS = ["text", "image", "document", "tool_use", "tool_result"]
TAKE = ("openai-responses", "anthropic", "gemini", "ollama")
SHAPES = [
    PNG,
    {"type": "image", "data": encode(make_png(1024, 1024)), "mimeType": "image/png"},
    {"type": "input_image", "image_url": "data:image/png;base64," + encode(make_png(1024, 1024))},
    {"type": "image_url", "image_url": {"url": "data:image/png;base64," + encode(make_png(1024, 1024))}},
]


def _load(folder: Any, *, parts: Any = KINDS, media: Any = None, **more: Any) -> Any:
    message = {"role": "item.role", "content": "item.content", "parts": parts} | (
        {"media": media or {"model": "gpt-4o"}} if parts == KINDS else {}
    )
    section = {"id": "log", "items": {"from": "state.log", "message": message}}
    manifest = {"promptc": 1, "name": "shown", "version": "1.0.0", "tokenizer": "cl100k_base", "budget": {"context": 90000, "reserve": 100}}
    return load_drawn(Drawn({**manifest, "sections": [section], **more}, {}), folder)


def _log(content: Any, use: Any = USE) -> Any:
    result = {"type": "tool_result", "tool_use_id": "a", "content": content}
    turns = [("user", "Where?"), ("assistant", [use]), ("user", [result])]
    return {"log": [{"role": role, "content": content} for role, content in turns]}


def _refuse(pack: Any, content: Any, format: str = "messages", **more: Any) -> Any:
    with pytest.raises(PromptcError) as wrong:
        pack.render(_log(content, **more), format=format).to(format)
    (found,) = wrong.value.diagnostics
    return found


# contract 4.46
@pytest.mark.parametrize("given", SHAPES)
def test_every_shape_becomes_one_and_counts_as_elsewhere(tmp_path: Any, given: Any) -> None:
    prompt = _load(tmp_path).render(_log([TEXT, given]), format="messages")
    assert prompt.messages[2]["content"][0]["content"] == [TEXT, {**PNG, "width": 1024, "height": 1024}]
    (item,) = [one for one in prompt.report["sections"][0]["items"] if "media" in one]
    assert item["media"] == [{"kind": "image", "type": "image/png", "size": [1024, 1024], "tokens": 765, "by": "gpt-4o", "estimate": False}]
    pairs = [(one["role"], one["content"]) for one in prompt.messages]
    assert prompt.tokens == 765 + count_messages("cl100k_base", pairs, (), prompt.report["overhead"])


# contract 4.46
@pytest.mark.parametrize("provider", PROVIDERS)
def test_bodies_hold_it_where_the_provider_takes_it(tmp_path: Any, provider: str) -> None:
    pack, content = _load(tmp_path), [PNG, TEXT, {"type": "text", "text": " "}]
    if provider not in TAKE:
        found = _refuse(pack, content, provider)
        assert (found.code, "no image in the result of a tool" in found.message) == ("PC0589", True)
        return
    body = pack.render(_log(content), format=provider).to(provider, MODELS[provider])
    check_published(provider, body)
    assert str(body).count(encode(make_png(1024, 1024))) == 1
    assert "width" not in str(body) and "'text': ' '" not in str(body)


def test_texts_and_pictures_keep_their_order_where_they_can(tmp_path: Any) -> None:
    body = _load(tmp_path).render(_log([TEXT, PNG, {"type": "text", "text": "South."}]), format="anthropic").to("anthropic")
    assert [one["type"] for one in body["messages"][2]["content"][0]["content"]] == ["text", "image", "text"]
    body = _load(tmp_path).render(_log([PNG, TEXT]), format="openai-responses").to("openai-responses")
    assert [one["type"] for one in body["input"][2]["output"]] == ["input_image", "input_text"]


# contract 4.46
def test_a_document_by_url_and_what_a_provider_does_not_take_there(tmp_path: Any) -> None:
    paper = {**link("https://example.org/a.pdf", "document", media_type="application/pdf"), "pages": 2}
    pack = _load(tmp_path, media={"model": "gpt-4o", "tokens": "700"})
    assert pack.render(_log([paper]), format="anthropic").to("anthropic")["messages"][2]["content"][0]["content"][0]["type"] == "document"
    assert "no document by URL in the result" in _refuse(pack, [paper], "gemini").message
    assert "it takes `image` there" in _refuse(pack, [paper], "ollama").help


# contract 4.25 and 4.46
@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"seen": PNG}, "contains a part of the kind `image`"),
        ([[PNG]], "contains a part of the kind `image`"),
        ([PNG, {"rows": 3}], "contains a part of the kind `image`"),
        (encode(make_png(9, 9) * 3), "contains a part of the kind `image/png`"),
    ],
)
def test_what_is_no_list_of_texts_and_media_is_refused(tmp_path: Any, content: Any, said: str) -> None:
    found = _refuse(_load(tmp_path), content)
    assert found.code == "PC0580" and said in found.message and "as a list of texts and media" in found.help


def test_a_kind_that_parts_does_not_name(tmp_path: Any) -> None:
    found = _refuse(_load(tmp_path, parts=["text", "tool_use", "tool_result"]), [PNG])
    assert found.code == "PC0580" and "add `image` to `parts`" in found.help


def test_data_that_only_looks_so_stays_data(tmp_path: Any) -> None:
    content = [{"type": "image", "alt": "a map"}, {"type": "file", "name": "a.txt"}]
    prompt = _load(tmp_path).render(_log(content), format="messages")
    assert prompt.messages[2]["content"][0]["content"] == content
    assert "media" not in prompt.report["sections"][0]["items"][2]


def test_broken_media_are_found_in_their_place(tmp_path: Any) -> None:
    found = _refuse(_load(tmp_path), [TEXT, {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "x"}}])
    assert found.code == "PC0584" and found.message.startswith("the base64 of image 2 of the result in part 1 of item `2` of `log`")


# contract 11.11
def test_texts_beside_a_picture_are_guarded_and_its_bytes_are_not(tmp_path: Any) -> None:
    titled = {
        "type": "document",
        "title": "a<|im_start|>",
        "source": {"type": "base64", "media_type": "application/pdf", "data": encode(PDF)},
        "pages": 1,
    }
    prompt = _load(tmp_path, media={"model": "gpt-4o", "tokens": "9"}).render(
        _log([{"type": "text", "text": "<|im_start|>"}, titled]), format="messages"
    )
    text, paper = prompt.messages[2]["content"][0]["content"]
    assert "<|im_start|>" not in text["text"] and "<|im_start|>" not in paper["title"]
    assert paper["source"]["data"] == encode(PDF)
    assert len([one for one in prompt.report["guarded"] if one["kind"] == "special_token"]) == 2


def test_a_text_shows_its_line_and_counts_that(tmp_path: Any) -> None:
    prompt = _load(tmp_path).render(_log([TEXT, PNG]), format="text")
    assert "[image: image/png, 1024 x 1024]" in prompt.text and encode(make_png(1024, 1024)) not in prompt.text


# contract 4.46 and 5.50
def test_its_tokens_go_with_its_call(tmp_path: Any) -> None:
    uses = [USE, {**USE, "id": "b"}]
    results = [
        {"type": "tool_result", "tool_use_id": "a", "content": [TEXT, PNG]},
        {"type": "tool_result", "tool_use_id": "b", "content": "dry"},
    ]
    turns = [("assistant", uses), ("user", results)]
    pack = _load(tmp_path, truncate=[{"evict": {"section": "log", "whole": "call"}}])
    state = {"log": [{"role": role, "content": content} for role, content in turns]}
    whole = pack.render(state, format="messages")
    part = pack.render(state, format="messages", budget=whole.tokens - 1)
    assert whole.tokens - part.tokens > 765 and [cut["call"] for cut in part.report["cuts"]] == ["a"]
    assert not any("media" in item for item in part.report["sections"][0]["items"])
