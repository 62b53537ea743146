"""Pictures, documents and sounds in messages: read, counted, evicted, reported and placed in every provider's body."""

import base64
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptc.diag.findings import FitError, PromptcError
from promptc.model.messages import PROVIDERS
from tests.cases.recount import count_messages
from tests.pictures import PDF, encode, link, make_gif, make_jpeg, make_png, make_wave, make_webp, show
from tests.property.drawing.packs import Drawn
from tests.property.load_drawn import load_drawn
from tests.published import MODELS, check_published
from tests.size import count_examples

TEXT = {"type": "text", "text": "Look."}
ALL = ["text", "image", "document", "audio"]
PNG = show(make_png(1024, 1024))


def _load(folder: Any, *, media: Any = None, models: Any = None, parts: Any = ALL, **more: Any) -> Any:
    message = {"role": "item.role", "content": "item.content", "parts": parts} | ({"media": media} if media is not None else {})
    section = {"id": "log", "items": {"from": "state.log", "id": "item.id", "message": message}, **more.pop("section", {})}
    output = {"output": {"models": models}} if models is not None else {}
    manifest = {"promptc": 1, "name": "log", "version": "1.0.0", "tokenizer": "cl100k_base", "budget": {"context": 90000, "reserve": 100}}
    return load_drawn(Drawn({**manifest, **output, "sections": [section], **more}, {}), folder)


def _log(*contents: Any) -> Any:
    return {"log": [{"id": f"m{place}", "role": "user", "content": content} for place, content in enumerate(contents)]}


def _refuse(pack: Any, *contents: Any, format: str = "messages") -> Any:
    with pytest.raises(PromptcError) as wrong:
        pack.render(_log(*contents), format=format).to(format)
    (found,) = wrong.value.diagnostics
    return found


def _say(type: str, **words: Any) -> Any:
    return {"type": "document", "source": {"type": type, **words}}


def _media(prompt: Any) -> Any:
    return [one for item in prompt.report["sections"][0]["items"] for one in item.get("media", ())]


# contract 4.40
@pytest.mark.parametrize(
    "given",
    [
        PNG,
        {"type": "image", "source": "data:image/png;base64," + encode(make_png(1024, 1024))},
        {"type": "image", "source": {"type": "url", "url": "DATA:IMAGE/PNG;base64," + encode(make_png(1024, 1024))}},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64," + encode(make_png(1024, 1024))}},
        {"type": "input_image", "image_url": "data:image/png;charset=x;base64," + encode(make_png(1024, 1024))},
        {"type": "image", "data": encode(make_png(1024, 1024)), "mimeType": "image/png"},
        {"type": "image", "source": {"data": encode(make_png(1024, 1024))}},
        {**PNG, "cache_control": {"type": "ephemeral"}, "text": None},
    ],
)
def test_every_shape_becomes_one(tmp_path: Any, given: Any) -> None:
    """What services document is read; of other keys nothing passes."""
    prompt = _load(tmp_path, media={"model": "gpt-4o"}).render(_log([TEXT, given]), format="messages")
    assert prompt.messages == [{"role": "user", "content": [TEXT, {**PNG, "width": 1024, "height": 1024}]}]
    assert _media(prompt) == [
        {"kind": "image", "type": "image/png", "size": [1024, 1024], "tokens": 765, "by": "gpt-4o", "estimate": False}
    ]


# contract 4.41
@pytest.mark.parametrize(
    ("part", "said"),
    [
        ({"type": "image"}, "has no bytes and no URL"),
        ({"type": "image", "source": {"type": "file", "file_id": "file_1"}}, "has no bytes and no URL in `source`"),
        ({"type": "image", "source": None}, "has no bytes and no URL"),
        ({"type": "image", "source": {"data": 5}}, "has no bytes and no URL"),
        ({"type": "image", "source": {"media_type": "image/png", "data": ""}}, "is empty"),
        ({"type": "image", "source": {"media_type": "image/png", "data": "iVBO\nRw0K"}}, "is broken: a character that it does not have"),
        ({"type": "image", "source": {"media_type": "image/png", "data": "iVBORw0"}}, "is broken: incorrect padding"),
        ({"type": "image", "source": {"media_type": "image/png", "data": "iVBO===="}}, "is broken"),
        ({"type": "image", "source": {"media_type": "image/png", "data": "ÿ"}}, "is broken"),
        ({"type": "image", "source": {"media_type": "image/png", "data": "data:image/png;base64,data:image/png;base64,AAAA"}}, "is broken"),
        ({"type": "image", "source": {"data": "AAAA"}}, "has no media type"),
        ({"type": "image", "source": {"media_type": ["image/png"], "data": "AAAA"}}, "has the media type"),
        ({"type": "image", "source": {"media_type": "png", "data": "AAAA"}}, "has the media type `png`"),
        (show(PDF, "application/pdf"), "is of the kind `image`, and its media type is `application/pdf`"),
        (show(PDF, "image/png"), "is `image/png`, and its bytes are `application/pdf`"),
        (show(make_jpeg(4, 4), "image/png"), "is `image/png`, and its bytes are `image/jpeg`"),
        (show(make_png(4, 4), "application/pdf", "document", pages=1), "is `application/pdf`, and its bytes are `image/png`"),
        (show(b"\xff\xd8\xff\xe0ab", "image/png", width=4, height=4), "is `image/png`, and its bytes are `image/jpeg`"),
        (show(make_png(4, 4), "audio/wav", "audio", seconds=1), "is `audio/wav`, and its bytes are `image/png`"),
        (show(make_jpeg(4, 4), "audio/aac", "audio", seconds=1), "is `audio/aac`, and its bytes are `image/jpeg`"),
        (show(b"\xff\xfb\x90", "audio/wav", "audio", seconds=1), "is `audio/wav`, and its bytes are `audio/mpeg`"),
        *(
            (show(b"hello world", media_type, kind, width=4, height=4), f"is `{media_type}`, and its bytes are something else")
            for media_type, kind in (
                ("image/png", "image"),
                ("image/webp", "image"),
                ("application/pdf", "document"),
                ("audio/mpeg", "audio"),
            )
        ),
        (_say("text", media_type="text/plain", data="Four bytes of words."), "has words in `source`, not bytes or a URL"),
        (_say("content", content="Words."), "has words in `source`, not bytes or a URL"),
        (show(make_png(4, 4), width=4, height=5), "declares 4 x 5 pixels, and its bytes have 4 x 4"),
        (show(make_png(4, 4), width=5), "declares a width of 5 pixels, and its bytes have 4 x 4"),
        (show(make_png(4, 4), height=1), "declares a height of 1 pixel, and its bytes have 4 x 4"),
        (show(make_wave(2.0), "audio/wav", "audio", seconds=9), "declares 9 seconds, and its bytes have 2 seconds"),
        (show(make_wave(1.0), "audio/wav", "audio", seconds=2.5), "declares 2.5 seconds, and its bytes have 1 second"),
        (show(make_png(4, 4), width=0), "`width` of part 1"),
        (show(make_png(4, 4), height=1.5), "`height` of part 1"),
        (show(make_png(4, 4), width=10**30, height=4), "`width` of part 1"),
        (show(make_png(4, 4), detail="huge"), "has the detail `huge`"),
        (show(make_png(4, 4), detail=["low"]), "has the detail"),
        ({"type": "image", "source": "data:image/png,abc"}, "has a data URL that begins with"),
        ({"type": "image", "source": "data:;base64,AAAA"}, "has a data URL that begins with"),
        ({"type": "image", "source": "data:" + "x" * 10**6}, "has a data URL that begins with"),
        (link("ftp://example.org/a.png"), "has the URL"),
        (link("https://example.org/a b.png"), "has the URL"),
        (link("https://example.org/" + "a" * 10_000), "has the URL"),
        (link("javascript:alert(1)"), "has the URL"),
        (show(make_wave(1.0), "audio/wav", "audio", seconds="2"), "`seconds` of part 1"),
        (link("https://example.org/a.mp3", "audio", seconds=float("1e300")), "`seconds` of part 1"),
        (link("https://example.org/a.pdf", "document", pages=-1), "`pages` of part 1"),
    ],
)
def test_what_is_not_what_it_says_is_refused(tmp_path: Any, part: Any, said: str) -> None:
    pack = _load(tmp_path, media={"model": "gpt-4o"})
    for format in ("messages", "text"):
        found = _refuse(pack, [part], format=format)
        assert found.code == "PC0584" and said in found.message and found.help


# contract 4.41 and 4.42
@pytest.mark.parametrize("seconds", [None, 1, 1.5, 2, 2.4])
def test_a_length_may_be_declared_in_whole_seconds_and_the_bytes_count(tmp_path: Any, seconds: Any) -> None:
    part = show(make_wave(1.5), "audio/wav", "audio", **({"seconds": seconds} if seconds is not None else {}))
    prompt = _load(tmp_path, media={"model": "gemini-2.5-flash"}).render(_log([part]), format="messages")
    assert [(one["seconds"], one["tokens"]) for one in _media(prompt)] == [(1.5, 48)]


# contract 4.42
@pytest.mark.parametrize(
    ("part", "unit"),
    [
        (link(), "width and height are not known"),
        (link(width=4), "width and height are not known"),
        (show(b"RIFF", "image/heic"), "width and height are not known"),
        (show(b"\xff\xd8\xff\xd9", "image/jpeg"), "width and height are not known"),
        (show(PDF, "application/pdf", "document"), "number of pages is not known"),
        (show(b"ID3", "audio/mpeg", "audio"), "length in seconds is not known"),
    ],
)
def test_an_unknown_size_is_refused_and_says_what_to_declare(tmp_path: Any, part: Any, unit: str) -> None:
    pack = _load(tmp_path, media={"model": "gemini-3"})
    found = _refuse(pack, [TEXT, part])
    assert found.code == "PC0585" and unit in found.message and "media: {tokens: part.tokens}" in found.help
    assert pack.render(_log([TEXT, part]), format="text").text.startswith("Look.\n[")


# contract 4.42
@pytest.mark.parametrize(
    ("part", "model", "tokens"),
    [
        (link(width=1024, height=1024), "gpt-4o", 765),
        (link(width=1024, height=1024, detail="low"), "gpt-4o", 85),
        (show(make_jpeg(1000, 1000), "image/jpeg"), "claude-opus-5-5", 1296),
        (show(make_webp(960, 540), "image/webp"), "gemini-2.5-flash", 1548),
        (show(make_gif(200, 200), "image/gif"), "claude-haiku-4-5", 64),
        (show(PDF, "application/pdf", "document", pages=3), "gemini-2.5-flash", 774),
        (show(make_wave(1.5), "audio/wav", "audio"), "gemini-2.5-flash", 48),
        (show(b"ID3", "audio/mp3", "audio", seconds=60), "gemini-2.5-flash", 1920),
        (show(b"\xff\xfb\x90", "audio/mpeg", "audio", seconds=60), "gemini-2.5-flash", 1920),
        ({"type": "input_audio", "input_audio": {"data": encode(b"ID3"), "format": "mp3"}, "seconds": 2}, "gemini-3-pro", 50),
        ({"type": "file", "file": {"file_data": encode(PDF), "filename": "a.pdf"}, "pages": 2}, "gemini-3-pro", 1120),
    ],
)
def test_a_part_counts_as_its_model_counts(tmp_path: Any, part: Any, model: str, tokens: int) -> None:
    prompt = _load(tmp_path, media={"model": model}).render(_log([TEXT, part]), format="messages")
    bare = _load(tmp_path).render(_log([TEXT]), format="messages")
    assert prompt.tokens == bare.tokens + tokens
    (counted,) = _media(prompt)
    assert counted["tokens"] == tokens and prompt.report["overhead"]["media"]["as_of"] == "2026-11-24"
    (item,) = prompt.report["sections"][0]["items"]
    assert item["tokens"] == tokens + bare.report["sections"][0]["items"][0]["tokens"]


# contract 4.43
def test_the_model_of_the_request_counts_where_the_table_has_it(tmp_path: Any) -> None:
    models = {"openai": "gpt-4o", "anthropic": "claude-opus-5-5", "ollama": "llava"}
    pack = _load(tmp_path, media={"model": "gpt-5.4", "detail": "high"}, models=models)
    state = _log([show(make_png(1024, 1024))])
    found = {format: _media(pack.render(state, format=format))[0] for format in ("messages", "openai", "anthropic", "ollama", "gemini")}
    assert {format: (one["by"], one["tokens"]) for format, one in found.items()} == {
        "messages": ("gpt-5.4", 1229),
        "openai": ("gpt-4o", 765),
        "anthropic": ("claude-opus-5-5", 1369),
        "ollama": ("gpt-5.4", 1229),
        "gemini": ("gpt-5.4", 1229),
    }


# contract 4.43
def test_the_model_that_is_asked_for_goes_before_all(tmp_path: Any) -> None:
    """Also where only the body names it: the prompt is rendered once more, so that the body fits."""
    pack = _load(tmp_path, media={"model": "gpt-5.4"}, models={"openai": "gpt-4o"}, budget={"model": "claude-opus-5-5", "reserve": 100})
    state = _log([show(make_png(1024, 1024))])
    render = pack.render
    found = [render(state, format="openai", model="claude-opus-5-5"), render(state, format="openai"), render(state, format="messages")]
    assert [_media(prompt)[0]["by"] for prompt in found] == ["claude-opus-5-5", "gpt-4o", "claude-opus-5-5"]
    small = _load(tmp_path, models={"openai": "gpt-4o"})
    prompt = small.render(state, format="openai", budget=800)
    assert prompt.to("openai", "gpt-4o-2024-08-06")["model"] == "gpt-4o-2024-08-06"
    with pytest.raises(FitError):
        prompt.to("openai", "gpt-5.4")
    assert prompt.to("openai", "llava")["model"] == "llava"


# contract 4.43
def test_what_no_rule_counts_is_refused(tmp_path: Any) -> None:
    unnamed = _load(tmp_path, models={"openai": "llava"})
    found = _refuse(unnamed, [PNG])
    assert found.code == "PC0586" and "the pack names no model" in found.message
    found = _refuse(unnamed, [PNG], format="openai")
    assert found.code == "PC0586" and "does not have the model `llava`" in found.message
    with pytest.raises(PromptcError) as wrong:
        _load(tmp_path, media={"model": "gpt-5.66"})
    (found,) = wrong.value.diagnostics
    assert found.code == "PC0586" and "did you mean `gpt-5.6`?" in found.help


# contract 4.43
@pytest.mark.parametrize(
    ("model", "part", "said"),
    [
        ("gpt-4o", show(make_png(4, 4), detail="original"), "(4 x 4): `gpt-4o` has no detail `original`"),
        ("gpt-4o", show(PDF, "application/pdf", "document", pages=1), "(1 page): `gpt-4o` has no published count for parts of the kind"),
        ("gpt-4o-mini", show(b"ID3", "audio/mpeg", "audio", seconds=1), "(1 second): `gpt-4o-mini` has no published count"),
        ("claude-opus-5-5", link(width=8001, height=2), "(8001 x 2): `claude-opus-5-5` refuses pictures of more than 8000 pixels"),
        ("openai/gpt-5.6", link(width=30_000, height=30_000), "`openai/gpt-5.6` counts 879844 patches, and refuses requests of more than"),
    ],
)
def test_what_a_model_refuses_is_refused(tmp_path: Any, model: str, part: Any, said: str) -> None:
    found = _refuse(_load(tmp_path, media={"model": model}), [part])
    assert found.code == "PC0588" and said in found.message and found.help


# contract 10.23
def test_redaction_leaves_bytes_as_they_are(tmp_path: Any) -> None:
    """Of a text that stands beside them it takes what looks like a number."""
    png = make_png(8, 8)
    data = encode(png + b"\0" * (-len(png) % 3)) + "/+4915112345678/"
    shapes = [
        {"type": "image", "data": data, "mimeType": "image/png"},
        {"type": "image", "source": {"media_type": "image/png", "data": data}},
        {"type": "image_url", "image_url": {"url": f"DATA:image/png;base64,{data}"}},
    ]
    sound, sheet = (encode(raw) + "/+4915112345678/" for raw in (b"ID3", b"%PDF-1.7\n"))
    shapes.append({"type": "input_audio", "input_audio": {"data": sound, "format": "mp3"}, "seconds": 1})
    shapes.append({"type": "file", "file": {"file_data": sheet}, "pages": 1})
    pack = _load(tmp_path, media={"model": "gpt-4o", "tokens": "9"}, redact=["phone"])
    prompt = pack.render(_log([{"type": "text", "text": "Call /+4915112345678/"}, *shapes]), format="messages")
    said, *parts = prompt.messages[0]["content"]
    assert said["text"] == "Call /[PHONE_1]/" and [part["source"]["data"] for part in parts] == [data, data, data, sound, sheet]


# contract 4.44
def test_the_author_says_what_a_part_takes(tmp_path: Any) -> None:
    """What is said goes before the table, and none leaves a part to it."""
    pack = _load(tmp_path, media={"model": "gpt-4o", "tokens": "part.tokens | default(none) if item.id == 'm0' else none"})
    prompt = pack.render(_log([TEXT, link(tokens=321)], [PNG], [TEXT, link(tokens=0)][:1]), format="messages")
    assert [(one["tokens"], one["by"]) for one in _media(prompt)] == [(321, "tokens"), (765, "gpt-4o")]


# contract 4.44
@pytest.mark.parametrize("value", ["'many'", "-1", "1.5", "true", "10 ** 12", "[]"])
def test_what_is_no_count_is_refused(tmp_path: Any, value: str) -> None:
    found = _refuse(_load(tmp_path, media={"tokens": value}), [TEXT, PNG])
    assert found.code == "PC0587" and "image 1 of item `m0` of `log`" in found.message


# contract 4.45
@pytest.mark.parametrize(
    ("part", "line"),
    [
        (PNG, "[image: image/png, 1024 x 1024]"),
        (link(), "[image]"),
        (link("https://example.org/a.pdf", "document", pages=1, title="<secret>"), "[document: 1 page]"),
        (show(PDF, "application/pdf", "document", pages=12), "[document: application/pdf, 12 pages]"),
        (show(make_wave(1.5), "audio/wav", "audio"), "[audio: audio/wav, 1.5 seconds]"),
        (show(make_wave(1.0), "audio/wav", "audio"), "[audio: audio/wav, 1 second]"),
        (link("https://example.org/a.mp3", "audio", seconds=1_234_567.5), "[audio: 1234567.5 seconds]"),
    ],
)
def test_a_line_stands_for_a_part_in_text(tmp_path: Any, part: Any, line: str) -> None:
    """It is text like all else: counted as such, and of the state's words nothing is in it."""
    prompt = _load(tmp_path).render(_log([TEXT, part, TEXT]), format="text")
    assert prompt.text == f"Look.\n{line}\nLook.\n"
    assert "tokens" not in _media(prompt)[0]
    assert prompt.tokens == _load(tmp_path).render(_log(prompt.text.strip()), format="text").tokens


# contract 4.45
def test_media_are_evicted_like_all_else(tmp_path: Any) -> None:
    pack = _load(tmp_path, media={"model": "gpt-4o"}, section={"overflow": [{"evict": {"order": ["true"]}}], "budget": 1600})
    prompt = pack.render(_log([TEXT, PNG], [PNG], [TEXT], [PNG, TEXT]), format="messages")
    assert [item["id"] for item in prompt.report["sections"][0]["items"]] == ["m1", "m2", "m3"]
    (cut,) = prompt.report["cuts"]
    assert cut["items"] == ["m0"] and cut["tokens"] == [767, 0] and prompt.report["sections"][0]["charge"] <= 1600


def test_steps_see_what_media_count(tmp_path: Any) -> None:
    overflow = [{"evict": {"order": ["this.tokens > 700"]}}, {"evict": {"order": ["true"]}}]
    pack = _load(tmp_path, media={"model": "gpt-4o"}, section={"overflow": overflow, "budget": 100})
    prompt = pack.render(_log([TEXT], [PNG], [TEXT]), format="messages")
    assert [item["id"] for item in prompt.report["sections"][0]["items"]] == ["m0", "m2"]


# contract 4.45
def test_what_does_not_fit_is_told_with_its_media(tmp_path: Any) -> None:
    with pytest.raises(FitError):
        _load(tmp_path, media={"model": "gpt-4o"}).render(_log([PNG]), format="messages", budget=700)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_provider_refuses_what_it_does_not_take(tmp_path: Any, provider: str) -> None:
    pack = _load(tmp_path, media={"model": "gpt-4o", "tokens": "10"})
    found = _refuse(pack, [TEXT, show(b"xx", "image/x-odd")], format=provider)
    assert found.code == "PC0589" and "`image/x-odd`" in found.message
    refused = {
        "ollama": [link(), show(PDF, "application/pdf", "document")],
        "anthropic": [show(make_wave(1.0), "audio/wav", "audio")],
        "openai": [link(kind="document"), show(b"fLaC", "audio/flac", "audio")],
        "openai-responses": [show(make_wave(1.0), "audio/wav", "audio"), show(make_png(4, 4), detail="medium")],
        "openai-compatible": [show(PDF, "application/pdf", "document")],
        "gemini": [link(), show(make_gif(4, 4), "image/gif")],
    }[provider]
    for part in refused:
        assert _refuse(pack, [TEXT, part], format=provider).code == "PC0589"
    said = {"log": [{"id": "a", "role": "assistant", "content": [PNG]}, {"id": "b", "role": "user", "content": "?"}]}
    prompt = pack.render(said, format=provider)
    with pytest.raises(PromptcError, match="PC0562"):
        prompt.to(provider)


@pytest.mark.parametrize(
    ("title", "name"),
    [(None, "document.pdf"), ("Letter of 1951", "Letter of 1951.pdf"), ("Manual.PDF", "Manual.PDF"), ("v1.2", "v1.2.pdf")],
)
def test_openai_reads_what_a_document_is_from_the_ending_of_its_name(tmp_path: Any, title: str | None, name: str) -> None:
    part = show(PDF, "application/pdf", "document", title=title)
    pack = _load(tmp_path, media={"tokens": "10"})
    named = [one for of in ("openai", "openai-responses") for one in _iter_strings(pack.render(_log([part]), format=of).to(of))]
    assert named.count(name) == 2


_IMAGES = st.sampled_from(
    [
        show(make_png(31, 57)),
        show(make_jpeg(640, 480), "image/jpeg"),
        show(make_webp(9, 9, "VP8L"), "image/webp"),
        show(make_png(800, 8), detail="low"),
        {"type": "image_url", "image_url": {"url": "data:image/png;base64," + encode(make_png(3, 3)), "detail": "high"}},
    ]
)
_LINKS = st.sampled_from(
    [
        {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png", "media_type": "image/png"}},
        {"type": "image", "source": "https://example.org/b.webp?x=1#y", "mime_type": "image/webp"},
    ]
)
_DOCUMENTS = st.sampled_from([show(PDF, "application/pdf", "document", title="Rules"), show(PDF, "application/pdf", "document")])
_SOUNDS = st.sampled_from([show(make_wave(0.1), "audio/wav", "audio"), show(b"ID3x", "audio/mpeg", "audio")])
_TAKEN = {
    "openai": _IMAGES | _LINKS | _DOCUMENTS | _SOUNDS,
    "openai-responses": _IMAGES | _LINKS | _DOCUMENTS,
    "openai-compatible": _IMAGES | _LINKS,
    "anthropic": _IMAGES | _LINKS | _DOCUMENTS,
    "gemini": _IMAGES | _LINKS | _DOCUMENTS | _SOUNDS,
    "ollama": _IMAGES,
}
_WORDS = st.text("abc ", min_size=1, max_size=6).filter(str.strip).map(lambda text: {"type": "text", "text": text})


# contract 8.13
@pytest.mark.parametrize("provider", PROVIDERS)
@given(st.data())
@settings(max_examples=count_examples(60))
def test_bodies_with_media_are_of_the_published_types(tmp_path_factory: Any, provider: str, data: Any) -> None:
    """And hold the bytes of every part, once, in their order."""
    pack = _load(tmp_path_factory.mktemp("bodies"), media={"tokens": "10"}, section={"cache": data.draw(st.booleans())})
    contents = data.draw(st.lists(st.lists(_TAKEN[provider] | _WORDS, min_size=1, max_size=4), min_size=1, max_size=4))
    prompt = pack.render(_log(*contents), format=provider)
    body = prompt.to(provider, MODELS[provider])
    check_published(provider, body)
    assert json.loads(json.dumps(body)) == body
    parts = [part for message in prompt.messages for part in message["content"] if part["type"] != "text"]
    told = [part["source"].get("data") or part["source"]["url"] for part in parts]
    held = [one for one in _iter_strings(body) if any(one.endswith(source) for source in told)]
    assert len(held) == len(told) and all(one.endswith(source) for one, source in zip(held, told, strict=True))
    bare = [(message["role"], [part for part in message["content"] if part["type"] == "text"]) for message in prompt.messages]
    assert prompt.tokens == count_messages("cl100k_base", bare, (), prompt.report["overhead"]) + 10 * len(parts)


def _iter_strings(value: Any) -> Any:
    if isinstance(value, str):
        yield value
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _iter_strings(one)


@given(
    st.binary(max_size=60), st.sampled_from(("image/png", "image/jpeg", "image/gif", "image/webp", "audio/wav", "application/pdf", "x/y"))
)
def test_any_bytes_are_counted_or_refused(tmp_path_factory: Any, data: bytes, media_type: str) -> None:
    pack = _load(tmp_path_factory.mktemp("bytes"), media={"model": "gemini-3"})
    for kind in ALL[1:]:
        codes: set[str] = set()
        prompt = None
        try:
            prompt = pack.render(_log([TEXT, show(data, media_type, kind)]), format="messages")
        except PromptcError as error:
            codes = {one.code for one in error.diagnostics}
        assert codes <= {"PC0584", "PC0585"}
        assert prompt is None or base64.b64decode(prompt.messages[0]["content"][1]["source"]["data"]) == data


_SIZES = st.sampled_from([(1, 1), (300, 200), (1024, 1024), (1600, 1200)])
_PIECES = _SIZES.map(lambda size: show(make_png(*size))) | _WORDS
_EVICT = [{"evict": {"section": "log", "order": ["this.tokens > 400", "true"]}}]


# contract 4.45, 11.10
@pytest.mark.parametrize("tokenizer", ["cl100k_base", "o200k_base", "chars/4"])
@given(st.data())
def test_any_budget_is_kept_and_every_token_is_told(tmp_path_factory: Any, tokenizer: str, data: Any) -> None:
    """Larger budgets keep all that smaller ones do, and the parts of the receipt add up, whatever counts the texts."""
    pack = _load(tmp_path_factory.mktemp("fit"), media={"model": "gpt-4o"}, truncate=_EVICT, tokenizer=tokenizer)
    contents = data.draw(st.lists(st.lists(_PIECES, min_size=1, max_size=3) | st.just("Well."), min_size=1, max_size=6))
    held: set[str] = set()
    for budget in sorted(data.draw(st.sets(st.integers(10, 7000), min_size=2, max_size=4))):
        outcome = pack.compile(_log(*contents), format="messages", budget=budget)
        if outcome.tokens is None:
            assert not held
            continue
        report = outcome.report
        (section,) = report["sections"]
        kept = {item["id"] for item in section["items"]}
        assert held <= kept and report["tokens"] <= budget
        held = kept
        assert section["tokens"] + sum(report["frame"].values()) == report["tokens"]
        assert sum(item["tokens"] for item in section["items"]) == section["tokens"]
        media = sum(one["tokens"] for item in section["items"] for one in item.get("media", ()))
        bare = [(message["role"], message["content"]) for message in outcome.emitted.messages]
        assert report["tokens"] == count_messages(tokenizer, bare, (), report["overhead"]) + media
