"""The page of `promptc serve` in a real browser."""

import json
import shutil
from time import monotonic

import pytest
from axe_playwright_python.sync_playwright import Axe

from promptc.api import Pack
from tests.browser.conftest import write_state
from tests.contract.sources import ROOT

pytestmark = pytest.mark.dear

STANDS = "[...document.querySelectorAll('#prompt .line')].map((one) => one.textContent).join('')"
HOSTILE = (
    "<script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked = 1'>",
    "</script></pre><svg onload=window.hacked=1>",
    "javascript:window.hacked=1 \u202egnp.exe \u2066 {{ 7 * 7 }} ${7*7}",
)


def wait_for(page, expression):
    """Asked from outside again and again: the policy of the page lets nothing evaluate a text inside."""
    until = monotonic() + 40
    while monotonic() < until:
        if page.evaluate(expression):
            return
        page.wait_for_timeout(25)
    raise AssertionError(f"never: {expression}")


def settle(page):
    """Until the page has asked for all that it wants to know."""
    wait_for(page, "document.querySelector('#prompts').getAttribute('aria-busy') === 'false'")


def move(page, selector, value):
    """As a person drags a slider: an `input` now, a `change` in the end."""
    page.eval_on_selector(
        selector,
        "(one, value) => { one.value = value; ['input', 'change'].forEach((name) => one.dispatchEvent(new Event(name))); }",
        str(value),
    )


def test_the_page_shows_the_prompt_and_what_was_cut_where_it_stood(open_page, folder):
    page = open_page()
    prompt = Pack.load(folder).render((folder / "long.json").read_bytes())
    assert page.evaluate(STANDS) == prompt.text
    assert page.locator("#total").inner_text().startswith(f"{prompt.tokens} of 900 tokens")
    gone = page.locator("#prompt [data-section=notes] del").first
    assert "Note 0 tells" in gone.inner_text()
    assert "for its cap of 60 tokens" in page.locator("#prompt [data-section=notes] .why").first.inner_text()
    (spent, allowed), tier = prompt.report["pressure"]["before"], prompt.report["strain"]
    assert page.locator("#strain-body p").inner_text().startswith(f"{tier}, {100 * spent // allowed} %: {spent} of {allowed} tokens")
    assert page.locator("#strain-body .now").inner_text() == "hard from 50 %, left under 40 %"
    page.select_option("#shown", label="short.json")
    wait_for(page, "document.querySelector('#prompt').textContent.includes('One note.')")
    assert page.locator("#prompt del").count() == 0


def test_a_slider_renders_live_and_what_it_tries_is_yaml(open_page, folder):
    page = open_page()
    slider = "[data-path='sections.notes.budget']"
    move(page, slider, 100)
    wait_for(page, "document.querySelector('[data-section=notes] .num').textContent.endsWith('/ 100')")
    tried = Pack.load(folder, tries=[("sections.notes.budget", "100")]).render((folder / "long.json").read_bytes())
    assert page.evaluate(STANDS) == tried.text
    assert page.locator("#yaml").inner_text() == "sections:\n  notes:\n    budget: 100\n"
    assert "budget: 60" in (folder / "pack.yaml").read_text()
    page.click("#reset")
    wait_for(page, "document.querySelector('#changes').hidden")
    assert page.locator(slider).input_value() == "60"


def test_a_slider_is_moved_by_keys(open_page):
    page = open_page()
    page.keyboard.press("s")
    assert page.evaluate("document.activeElement.dataset.path") == "budget.context"
    page.keyboard.press("ArrowLeft")
    wait_for(page, "!document.querySelector('#changes').hidden")
    assert page.evaluate("document.activeElement.dataset.path") == "budget.context"


def test_the_ladder_is_walked_notch_by_notch(open_page):
    page = open_page()
    most = int(page.locator("#notch").get_attribute("max"))
    assert most > 2
    struck = [page.locator("#prompt del").count()]
    for _ in range(most):
        page.keyboard.press("[")
        struck.append(page.locator("#prompt del").count())
    assert struck[-1] == 0 and struck == sorted(struck, reverse=True)
    assert page.locator("#told").inner_text().startswith("Before any cut")
    assert page.locator("#prompt [data-section=notes]").inner_text().count("tells at length") == 9
    page.keyboard.press("]")
    told = page.locator("#told").inner_text()
    assert told.startswith(f"Notch 1 of {most}: names, for its cap of 40 tokens: evict `0`, oldest first; ") and "(pack.yaml:" in told


def test_a_click_on_a_line_tells_template_and_state_key(open_page):
    page = open_page()
    page.locator("#prompt [data-section=names] .line").first.click()
    wait_for(page, "!document.querySelector('#trace').hidden")
    told = page.locator("#trace-body").inner_text()
    assert "/names/" in told and "pack.yaml:" in told and "{{ item }}" in told
    page.keyboard.press("Escape")
    assert page.locator("#trace").is_hidden()
    for _ in range(4):
        page.keyboard.press("k")  # from the line that was clicked
    page.keyboard.press("Enter")
    wait_for(page, "!document.querySelector('#trace').hidden")
    assert "Be kind." in page.locator("#trace-body").inner_text()


def test_a_line_stays_chosen_when_the_page_is_drawn_again(open_page, folder):
    page = open_page()
    settle(page)
    for _ in range(3):
        page.keyboard.press("j")
    chosen = page.evaluate("document.querySelector('.line.now').textContent")
    manifest = (folder / "pack.yaml").read_text()
    (folder / "pack.yaml").write_text(manifest.replace("Be kind.", "Be brave."))
    wait_for(page, "document.querySelector('#prompt').textContent.includes('Be brave.')")
    assert page.evaluate("document.querySelector('.line.now').textContent") == chosen
    page.keyboard.press("k")
    page.keyboard.press("k")
    (folder / "pack.yaml").write_text(manifest)
    wait_for(page, "document.querySelector('#prompt').textContent.includes('Be kind.')")
    page.keyboard.press("Enter")
    wait_for(page, "!document.querySelector('#trace').hidden")
    assert "Be kind." in page.locator("#trace-body").inner_text()


def test_a_saved_file_changes_the_page(open_page, folder):
    page = open_page()
    manifest = (folder / "pack.yaml").read_text()
    began = monotonic()
    (folder / "pack.yaml").write_text(manifest.replace("Be kind.", "Be brave."))
    wait_for(page, "document.querySelector('#prompt').textContent.includes('Be brave.')")
    assert monotonic() - began < 20  # benchmarks measure it, on a machine that has nothing else to do
    (folder / "pack.yaml").write_text(manifest.replace("budget: 60", "budgett: 60"))
    wait_for(page, "document.querySelector('#finding-body').textContent.includes('budgett')")
    assert page.locator("#findings").is_visible() and "Be brave." in page.locator("#prompt").inner_text()
    (folder / "pack.yaml").write_text(manifest)
    wait_for(page, "document.querySelector('#prompt').textContent.includes('Be kind.')")


def test_a_state_that_cannot_be_rendered_shows_nothing_of_another(open_page, folder):
    write_state(folder, "odd", notes=["One note."], mood="odd")
    page = open_page(str(folder / "long.json"), str(folder / "odd.json"))
    page.click("#prompt .line >> nth=0")
    wait_for(page, "!document.querySelector('#trace').hidden")
    page.keyboard.press("n")
    wait_for(page, "document.querySelector('#total').textContent === 'Nothing can be rendered'")
    settle(page)
    assert page.locator("#prompt .message").count() == page.locator("#sections > *").count() == 0
    assert all(page.locator(one).is_hidden() for one in ("#strain", "#ladder", "#trace"))
    assert "odd" in page.locator("#finding-body").inner_text()
    page.keyboard.press("[")
    assert "as the state says" in page.locator("#switch-body select[aria-label=mood]").inner_text()
    assert "calm" not in page.locator("#switch-body select[aria-label=mood] option >> nth=0").inner_text()
    write_state(folder, "odd", notes=["One odd note."])
    wait_for(page, "document.querySelector('#prompt').textContent.includes('One odd note.')")
    assert page.locator("#sections .row").count() > 2
    page.keyboard.press("p")
    wait_for(page, "document.querySelector('#prompt').textContent.includes('Note 8')")


def test_a_value_that_fails_is_told_as_tried(open_page):
    page = open_page()
    settle(page)
    number = page.get_by_label("budget.context", exact=True)
    for value in ("999999999999999", "0"):
        number.fill(value)
        number.dispatch_event("change")
        told = f"budget:\n  context: {value}\n"
        wait_for(page, f"document.querySelector('#yaml').textContent === {json.dumps(told)}")
        assert page.locator("#changes").is_visible()
    assert page.locator("#total").inner_text() == "Nothing can be rendered"
    page.eval_on_selector("[data-path='budget.context']", "(one) => one.dispatchEvent(new Event('change'))")
    page.click("#reset")
    wait_for(page, "document.querySelector('#changes').hidden")
    wait_for(page, "document.querySelector('#total').textContent.includes(' of 900 tokens')")
    assert number.input_value() == "1000"


def test_a_turn_behind_the_end_of_its_session_says_so(open_page, folder):
    (folder / "talk").mkdir()
    (folder / "talk/case.yaml").write_text(
        "title: a session\nstates: [{base: ../short.json}, {set: {/mood: tense}}, {set: {/mood: calm}}]\n", encoding="utf-8"
    )
    rules = "Be quick. " * 400
    (folder / "pack.yaml").write_text((folder / "pack.yaml").read_text().replace("Be quick.", rules), encoding="utf-8")
    page = open_page(str(folder / "talk"))
    page.keyboard.press("n")
    wait_for(page, "document.querySelector('#total').textContent.startsWith('Does not fit')")
    page.keyboard.press("n")
    wait_for(page, "document.querySelector('#total').textContent === 'Nothing can be rendered'")
    assert "#3` is not rendered: turn 2 does not fit" in page.locator("#finding-body").inner_text()
    assert page.locator("#prompt .message").count() == 0


def test_a_mood_is_switched(open_page):
    page = open_page()
    page.select_option("#switch-body select[aria-label=mood]", "tense")
    wait_for(page, "document.querySelector('#prompt').textContent.includes('Be quick.')")


def test_a_patch_and_a_format_are_switched(open_page, folder):
    page, state = open_page(), (folder / "long.json").read_bytes()
    page.check("#switch-body input[type=checkbox]")
    wait_for(page, "document.querySelector('[data-section=notes] .num').textContent.endsWith('/ 30')")
    assert page.evaluate(STANDS) == Pack.load(folder).render(state, patches=["brief"]).text
    page.uncheck("#switch-body input[type=checkbox]")
    wait_for(page, "document.querySelector('[data-section=notes] .num').textContent.endsWith('/ 60')")
    page.select_option("#switch-body select[aria-label=format]", "messages")
    wait_for(page, "document.querySelector('#prompt h3') !== null")
    messages = Pack.load(folder).render(state, format="messages").messages
    assert page.locator("#prompt .message h3").all_inner_texts() == [one["role"] for one in messages]
    assert page.evaluate(STANDS).strip() == "\n".join(one["content"] for one in messages)
    rest = int(page.locator("[data-rest]").inner_text().removeprefix("shared: ").replace("−", "-"))
    held = [int(one.partition(" /")[0]) for one in page.locator("[data-section] .num").all_inner_texts()]
    assert f"{rest + sum(held)} of " in page.locator("#total").inner_text()


def test_what_is_tried_is_copied(open_page):
    page = open_page()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    move(page, "[data-path='sections.notes.budget']", 100)
    wait_for(page, "!document.querySelector('#changes').hidden")
    page.click("#copy")
    wait_for(page, "document.querySelector('#changed').textContent === 'Copied.'")
    assert page.evaluate("navigator.clipboard.readText()") == "sections:\n  notes:\n    budget: 100\n"


def test_a_slider_asks_once_for_a_value(open_page):
    page = open_page()
    settle(page)
    asked = []
    page.on("request", lambda one: asked.append(one.post_data_json["tries"]) if one.url.endswith("/view") else None)
    move(page, "[data-path='sections.notes.budget']", 100)
    wait_for(page, "document.querySelector('[data-section=notes] .num').textContent.endsWith('/ 100')")
    move(page, "[data-path='sections.notes.budget']", 110)
    wait_for(page, "document.querySelector('[data-section=notes] .num').textContent.endsWith('/ 110')")
    assert asked == [[["sections.notes.budget", "100"]], [["sections.notes.budget", "110"]]]


def test_pieces_that_stay_keep_their_nodes(open_page):
    page = open_page()
    settle(page)
    why = "#prompt [data-section=notes] .why"
    number = int(page.locator(why).first.get_attribute("title").split()[1].rstrip(":"))
    page.evaluate("document.querySelectorAll('#prompt .line, #prompt del').forEach((one) => { one.met = true; })")
    move(page, "[data-path='sections.names.budget']", 47)
    wait_for(page, "document.querySelector('[data-section=names] .num').textContent.endsWith('/ 47')")
    lines = page.evaluate("[...document.querySelectorAll('#prompt .line, #prompt del')].map((one) => [one.textContent, one.met === true])")
    assert ["Be kind.", True] in lines and ["Name 19", True] in lines
    assert [text for text, met in lines if not met] == ["Name 9", "\n"]
    assert page.locator(why).first.get_attribute("title").startswith(f"notch {number - 1}: pack.yaml:")  # one name less is taken


def test_what_is_tried_is_written_when_it_was_shown_and_confirmed(open_page, folder):
    page = open_page()
    before = (folder / "pack.yaml").read_text()
    move(page, "[data-path='sections.notes.budget']", 100)
    wait_for(page, "!document.querySelector('#changes').hidden")
    page.click("#preview")
    wait_for(page, "!document.querySelector('#write').hidden")
    assert page.locator("#write-body del").all_text_contents() == ["-     budget: 60\n"]
    assert page.locator("#write-body ins").all_text_contents() == ["+     budget: 100\n"]
    page.click("#cancel")
    assert page.locator("#write").is_hidden() and (folder / "pack.yaml").read_text() == before
    page.click("#preview")
    wait_for(page, "!document.querySelector('#write').hidden")
    page.click("#confirm")
    wait_for(page, "document.querySelector('#said').textContent.startsWith('Written to ')")
    assert (folder / "pack.yaml").read_text() == before.replace("budget: 60", "budget: 100")
    wait_for(page, "document.querySelector('[data-section=notes] .num').textContent.endsWith('/ 100')")
    wait_for(page, "document.querySelector('#changes').hidden")


def test_a_pack_that_changed_meanwhile_is_not_written(open_page, folder):
    page = open_page()
    move(page, "[data-path='sections.notes.budget']", 100)
    wait_for(page, "!document.querySelector('#changes').hidden")
    page.click("#preview")
    wait_for(page, "!document.querySelector('#write').hidden")
    newer = (folder / "pack.yaml").read_text().replace("Be kind.", "Be brave.")
    # Written as the page asks, so that no reload can close what is shown before the click.
    page.route("**/write", lambda route: ((folder / "pack.yaml").write_text(newer), route.continue_()), times=1)
    page.click("#confirm")
    wait_for(page, "document.querySelector('#changed').textContent.includes('changed meanwhile')")
    assert (folder / "pack.yaml").read_text() == newer


def test_what_cannot_be_written_is_said_where_it_is_asked(open_page, folder):
    manifest = (folder / "pack.yaml").read_text()
    (folder / "pack.yaml").write_text(manifest.replace("budget: 60", "budget: &cap 60"))
    page = open_page()
    move(page, "[data-path='sections.notes.budget']", 100)
    wait_for(page, "!document.querySelector('#changes').hidden")
    page.click("#preview")
    wait_for(page, "document.querySelector('#changed').textContent.includes('PC0668')")
    assert page.locator("#write").is_hidden()


def test_another_pack_stands_beside(open_page, folder, tmp_path_factory):
    old = copy_pack(folder, tmp_path_factory.mktemp("old"), "Be kind.", "Be good.")
    page = open_page(against={"HEAD:pack": str(old)})
    page.select_option("#beside", label="HEAD:pack")
    wait_for(page, "document.querySelector('#other').textContent.includes('Be good.')")
    wait_for(page, "!document.querySelector('#difference').hidden")
    page.click("#difference summary >> nth=0")
    assert page.locator("#difference del").first.text_content() == "good"
    assert page.locator("#difference ins").first.text_content() == "kind"
    (old / "pack.yaml").write_text("promptc: 1\nnamed: x\n")
    wait_for(page, "document.querySelector('#other').textContent.includes('named')")


def copy_pack(folder, to, old, new):
    for name in ("pack.yaml", "state.schema.json"):
        (to / name).write_text((folder / name).read_text().replace(old, new))
    return to


def test_two_prompts_stand_side_by_side(open_page, folder):
    page = open_page()
    page.select_option("#beside", label="short.json")
    wait_for(page, "!document.querySelector('#difference').hidden")
    assert "One note." in page.locator("#other").inner_text()
    assert "long.json log 1.0.0, " in page.locator("#prompt .which").inner_text()
    assert "short.json log 1.0.0, " in page.locator("#other .which").inner_text()
    assert "notes" in page.locator("#difference-body").inner_text()


def test_hostile_texts_are_texts(open_page, folder):
    write_state(folder, "hostile", notes=list(HOSTILE), names=["</del><script>window.hacked = 1</script>"] * 30)
    manifest = (folder / "pack.yaml").read_text()
    (folder / "pack.yaml").write_text(
        manifest.replace("Be kind.", "<img src=x onerror=window.hacked=1>").replace("budget: 60", "budget: 600")
    )
    page = open_page(str(folder / "hostile.json"))
    assert page.evaluate(STANDS) == Pack.load(folder).render((folder / "hostile.json").read_bytes()).text
    told = page.locator("#sections [data-section=notes]").inner_text()
    assert "invisible U+202E was kept" in told and "invisible U+2066 was kept" in told
    page.locator("#prompt [data-section=notes] .line").first.click()
    wait_for(page, "!document.querySelector('#trace').hidden")
    (folder / "pack.yaml").write_text(manifest.replace("Be kind.", "{{ state['<img src=x onerror=window.hacked=1>'] }}"))
    wait_for(page, "document.querySelector('#finding-body').textContent.includes('onerror')")
    assert page.evaluate("window.hacked") is None
    assert page.evaluate("document.querySelectorAll('main img, main script, main svg, aside img, .trace img').length") == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_use_it(open_page, scheme):
    page = open_page(scheme=scheme)
    page.click("#prompt .line >> nth=0")
    move(page, "[data-path='sections.notes.budget']", 50)
    wait_for(page, "!document.querySelector('#changes').hidden")
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    found = Axe().run(page)
    assert not found.response["violations"], json.dumps(found.response["violations"], indent=1)[:4000]


@pytest.mark.parametrize("width", [360, 800, 1920])
def test_nothing_is_wider_than_the_window(open_page, folder, width):
    write_state(folder, "wide", notes=["x" * 4_000, "A note."], names=["n" * 300])
    page = open_page(str(folder / "wide.json"), size=(width, 900))
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for selector in ("#shown", "#prompt", "#sections"):
        box = page.locator(selector).bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= width


def test_the_turns_of_a_session_and_their_reuse_are_a_strip(open_page, monkeypatch):
    monkeypatch.chdir(ROOT)
    page = open_page("helpdesk/long_session", pack="packs/helpdesk")
    wait_for(page, "document.querySelectorAll('.turn').length === 4")
    page.click(".turn >> nth=2")
    wait_for(page, "document.querySelectorAll('.turn')[2].getAttribute('aria-current') === 'true'")
    assert "%" in page.locator(".turn >> nth=2").inner_text()


def test_a_pending_golden_is_accepted_or_rejected(open_page, folder):
    for name in ("first", "second"):
        case = folder / "cases" / name
        case.mkdir(parents=True)
        (case / "case.yaml").write_text("title: a case\nstate: ../../short.json\ngolden: [text]\n")
        (case / "golden.txt").write_text("Be rude.\n")
        (case / "golden.txt.new").write_text("Be kind.\n<img src=x onerror=window.hacked=1>\n")
    page = open_page(str(folder / "cases"))
    wait_for(page, "document.querySelectorAll('.golden').length === 2")
    assert page.locator("#goldens").bounding_box()["height"] < 60  # so that the prompt stays on the first screen
    page.click("#golden-list summary >> nth=0")
    assert page.locator(".golden del").first.text_content() == "rude."
    page.click(".golden >> nth=0 >> text=Accept")
    wait_for(page, "document.querySelectorAll('.golden').length === 1")
    # Written as the page asks, so that no reload can show the new text before the click.
    newer = folder / "cases" / "second" / "golden.txt.new"
    page.route("**/golden", lambda route: (newer.write_text("Be what nobody has seen.\n"), route.continue_()), times=1)
    page.click(".golden >> text=Accept")
    wait_for(page, "document.querySelector('#golden-said').textContent.includes('has changed since')")
    wait_for(page, "document.querySelector('#golden-body').textContent.includes('nobody has seen')")
    page.click(".golden >> text=Reject")
    wait_for(page, "document.querySelector('#goldens').hidden")
    assert (folder / "cases" / "first" / "golden.txt").read_text().startswith("Be kind.")
    assert (folder / "cases" / "second" / "golden.txt").read_text() == "Be rude.\n"
    assert not list(folder.glob("cases/*/*.new")) and page.evaluate("window.hacked") is None


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("budget: 60\n", "budget: {chars: 60}\n", "`notes` is 407 characters over its cap"),
        ("{name: hard, at: 0.5, leave: 0.4}", "{name: hard, at: 0.01, do: [fail: {section: notes}]}", "the strain tier fails for `notes`"),
    ],
)
def test_what_a_prompt_that_does_not_fit_lacks_has_its_unit(open_page, folder, old, new, says):
    steps = 'overflow: [{trim: {floor: 8, marker: "[…]"}}, {evict: {}}]'
    copy_pack(folder, folder, steps, "overflow: [fail: {}]")
    copy_pack(folder, folder, old, new)
    assert open_page().locator("#total").inner_text().startswith(f"Does not fit: {says}. Text, ")


def test_a_file_that_an_editor_replaces_is_followed(open_page, folder):
    page = open_page()
    for text in ("The first tide.", "The second tide.", "The third tide."):
        write_state(folder, "newer", notes=[text])
        (folder / "newer.json").replace(folder / "long.json")
        wait_for(page, f"document.querySelector('#prompt').textContent.includes('{text}')")


def test_what_was_read_elsewhere_is_followed(open_page, folder, tmp_path_factory):
    """The state of a case beside the pack, and a template that is not there yet."""
    elsewhere = tmp_path_factory.mktemp("repository")
    for name in ("packs/log", "fixtures/log/one", "fixtures/log/base"):
        (elsewhere / name).mkdir(parents=True)
    copy_pack(folder, elsewhere / "packs/log", 'text: "Be kind."', "template: rules.md")
    (elsewhere / "packs/log/rules.md").write_text("Be kind.\n")
    (elsewhere / "fixtures/log/one/case.yaml").write_text("title: a case\nstate: ../base/state.json\nexpect: {exit: 0}\n")
    write_state(elsewhere / "fixtures/log/base", "state", notes=["The first tide."])
    page = open_page(str(elsewhere / "fixtures"), pack=elsewhere / "packs/log")
    write_state(elsewhere / "fixtures/log/base", "state", notes=["The second tide."])
    wait_for(page, "document.querySelector('#prompt').textContent.includes('The second tide.')")
    (elsewhere / "packs/log/rules.md").unlink()
    wait_for(page, "document.querySelector('#finding-body').textContent.includes('rules.md')")
    (elsewhere / "packs/log/rules.md").write_text("Be brave.\n")
    wait_for(page, "document.querySelector('#prompt').textContent.includes('Be brave.')")


def test_findings_take_one_line_until_an_error_opens_them(open_page, folder):
    manifest = (folder / "pack.yaml").read_text()
    asserts = 'asserts: [{that: state.notes | length == 99, else: "a tide"}]\n'
    (folder / "pack.yaml").write_text(manifest.replace("variants:\n", f"{asserts}variants:\n"))
    page = open_page()
    settle(page)
    shown = page.locator("#finding-list")
    assert page.locator("#h-findings").inner_text().startswith("Findings: 1 warning")
    assert shown.get_attribute("open") is None and shown.bounding_box()["height"] < 40
    assert "a tide" in page.locator("#finding-first").inner_text()
    page.click("#finding-list summary")
    move(page, "[data-path='sections.notes.budget']", 50)
    wait_for(page, "!document.querySelector('#changes').hidden")
    page.click("#finding-list summary")
    move(page, "[data-path='sections.notes.budget']", 70)
    wait_for(page, "document.querySelector('#yaml').textContent.includes('70')")
    settle(page)
    assert shown.get_attribute("open") is None
    (folder / "pack.yaml").write_text(manifest.replace("budget: 60", "budgett: 60"))
    wait_for(page, "document.querySelector('#finding-list').open")
    (folder / "pack.yaml").write_text(manifest)
    wait_for(page, "!document.querySelector('#finding-list').open")


def test_a_pool_and_its_cap_are_shown_with_their_slider(open_page, folder):
    pool = "pools:\n  all:\n    sections: [names, notes]\n    max: 70\n    overflow: [names, notes]\nstrain:\n"
    (folder / "pack.yaml").write_text((folder / "pack.yaml").read_text().replace("strain:\n", pool))
    page = open_page()
    report = Pack.load(folder).render((folder / "long.json").read_bytes()).report["pools"][0]
    row = page.locator("[data-pool=all]")
    assert row.locator(".num").inner_text() == f"{report['charge']} / {report['grant']}"
    assert f"wanted {report['demand']}" in row.inner_text() and "names, notes" in row.inner_text()
    assert row.locator("[data-path='pools.all.max']").count() == 1
    move(page, "[data-path='pools.all.max']", 90)
    wait_for(page, "document.querySelector('[data-pool=all] .num').textContent.endsWith('/ 90')")


def test_a_text_from_right_to_left_is_read_from_right_to_left(open_page, folder):
    write_state(folder, "short", notes=["אבג one דהו."])
    page = open_page(str(folder / "short.json"))
    places = page.evaluate(
        """() => {
          const text = [...document.querySelectorAll('#prompt [data-section=notes] .line')].map((one) => one.firstChild)
            .find((one) => one.data.includes('one'));
          return [0, 8].map((from) => {
            const range = document.createRange();
            range.setStart(text, from); range.setEnd(text, from + 3);
            return range.getBoundingClientRect().left;
          });
        }"""
    )
    assert places[0] > places[1]


def test_the_line_that_is_explained_is_marked_and_in_view(open_page, folder):
    write_state(folder, "short", notes=[f"Note {at}." for at in range(200)])
    (folder / "pack.yaml").write_text((folder / "pack.yaml").read_text().replace("budget: 60", "budget: 900"))
    page = open_page(str(folder / "short.json"))
    last = page.locator("#prompt [data-section=notes] .line", has_text="Note 150").last
    last.scroll_into_view_if_needed()
    last.evaluate("(one) => one.scrollIntoView({ block: 'end' })")
    last.click()
    wait_for(page, "!document.querySelector('#trace').hidden")
    marked = page.locator(".line.now")
    assert "Note 150" in marked.first.inner_text()
    edge = "(id) => document.querySelector(id).getBoundingClientRect()"
    assert page.evaluate(f"({edge})('.line.now').bottom <= ({edge})('#trace').top")
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    end, panel = page.locator("#prompt").bounding_box(), page.locator("#trace").bounding_box()
    assert end["y"] + end["height"] <= panel["y"]


def test_states_are_told_apart_by_the_end_of_their_paths(open_page, folder):
    page = open_page()
    assert page.locator("#shown option").all_inner_texts() == ["long.json", "short.json"]
    assert page.locator("#shown option").first.get_attribute("title") == str(folder / "long.json")
    assert page.title() == "log 1.0.0 · promptc"


def test_a_case_keeps_what_it_sets_itself(open_page, folder):
    (folder / "one").mkdir()
    case = "title: one\nstate: ../long.json\nwith: {budget: 130, patch: [brief], variant: {mood: tense}}\n"
    (folder / "one/case.yaml").write_text(case)
    loud = "  loud: {sections: {rules: {role: user}}}\n  brief:"
    axis = "variants:\n  tone:\n    select: \"'low'\"\n    cases: {low: {}, high: {sections: {rules: {text: Sing.}}}}\n"
    manifest = (folder / "pack.yaml").read_text().replace("variants:\n", axis).replace("  brief:", loud)
    (folder / "pack.yaml").write_text(manifest)
    page = open_page(str(folder / "one"))
    assert page.locator("#own").inner_text() == "The case sets the whole budget to 130 tokens. The sliders here do not change it."
    brief = page.get_by_label("patch brief")
    assert brief.is_checked() and brief.is_disabled()
    page.select_option("#switch-body select[aria-label=tone]", "low")
    page.get_by_label("patch loud").check()
    settle(page)
    assert "Be quick." in page.locator("#prompt").inner_text()
    assert "/ 30" in page.locator("#sections [data-section=notes] .num").inner_text()


def test_cases_come_and_go(open_page, folder):
    for name in ("one", "two"):
        (folder / "cases" / name).mkdir(parents=True)
        (folder / "cases" / name / "case.yaml").write_text("title: a case\nstate: ../../short.json\n")
    page = open_page(str(folder / "short.json"), str(folder / "cases"))
    settle(page)
    (folder / "cases/three").mkdir()
    (folder / "cases/three/case.yaml").write_text("title: a case\nstate: ../../short.json\n")
    wait_for(page, "document.querySelectorAll('#shown option').length === 4")
    shutil.rmtree(folder / "cases/two")
    wait_for(page, "document.querySelectorAll('#shown option').length === 3")
    (folder / "cases").rename(folder / "elsewhere")
    wait_for(page, "document.querySelector('#finding-body').textContent.includes('PC0907')")
    assert page.locator("#total").inner_text() == "Nothing can be rendered"
    (folder / "elsewhere").rename(folder / "cases")
    wait_for(page, "document.querySelectorAll('#shown option').length === 3")
    wait_for(page, "document.querySelector('#prompt').textContent.includes('One note.')")


def test_a_key_that_comes_too_early_does_nothing(open_page, show, folder):
    page = open_page()
    page.route("**/start", lambda route: (page.wait_for_timeout(300), route.continue_()), times=1)
    page.reload(wait_until="domcontentloaded")
    for key in ("n", "p", "[", "j", "Enter", "c"):
        page.keyboard.press(key)
    page.wait_for_selector("body[data-ready]")
    settle(page)
    assert "Note 8" in page.locator("#prompt").inner_text()


def test_a_tried_value_that_the_file_has_meanwhile_is_no_longer_tried(open_page, folder):
    page = open_page()
    move(page, "[data-path='sections.notes.budget']", 100)
    wait_for(page, "!document.querySelector('#changes').hidden")
    manifest = (folder / "pack.yaml").read_text()
    (folder / "pack.yaml").write_text(manifest.replace("budget: 60", "budget: 100"))
    wait_for(page, "document.querySelector('#changes').hidden")
    assert page.locator(".moved").count() == 0


def test_a_tried_value_whose_section_is_gone_is_dropped(open_page, folder):
    page = open_page()
    move(page, "[data-path='sections.notes.budget']", 100)
    wait_for(page, "!document.querySelector('#changes').hidden")
    manifest = (folder / "pack.yaml").read_text()
    brief = "  brief: {sections: {notes: {budget: 30}}}\n"
    renamed = manifest.replace("- id: notes", "- id: sayings").replace(brief, "  brief: {budget: 500}\n")
    (folder / "pack.yaml").write_text(renamed)
    wait_for(page, "document.querySelector('#sections [data-section=sayings]') !== null")
    assert page.locator("#changes").is_hidden() and "that you tried" in page.locator("#said").inner_text()


def test_a_golden_that_a_test_leaves_pending_comes_by_itself(open_page, folder):
    case = folder / "cases" / "one"
    case.mkdir(parents=True)
    (case / "case.yaml").write_text("title: a case\nstate: ../../short.json\ngolden: [text]\n")
    (case / "golden.txt").write_text("Be rude.\n")
    page = open_page(str(folder / "cases"))
    settle(page)
    assert page.locator("#goldens").is_hidden()
    (case / "golden.txt.new").write_text("Be kind.\n")
    wait_for(page, "document.querySelectorAll('.golden').length === 1")


def test_nothing_covers_a_printed_prompt(open_page):
    page = open_page()
    page.click("#prompt .line >> nth=0")
    wait_for(page, "!document.querySelector('#trace').hidden")
    page.emulate_media(media="print")
    styles = "['.trace', '#changes', '.lines'].map((one) => getComputedStyle(document.querySelector(one)))"
    assert page.evaluate(f"{styles}.map((one) => one.position)") == ["static"] * 3
    assert page.evaluate(f"{styles}[2].contentVisibility") == "visible"


def test_the_head_names_the_model_of_the_budget(open_page, folder):
    copy_pack(folder, folder, "{context: 1000, reserve: 100}", "{model: gpt-4o, reserve: 4000}")
    assert open_page().locator("#total").inner_text().endswith(", with the window of gpt-4o")
