"""The page of `promptc serve --static`: a file, which a browser opens from the disk."""

import json
import re

import pytest
from axe_playwright_python.sync_playwright import Axe

from promptc.api import Pack
from promptc.workshop.page import Bench, render_static
from tests.browser.conftest import write_state
from tests.browser.test_page import HOSTILE, STANDS, copy_pack, move, wait_for

pytestmark = pytest.mark.dear


def test_it_shows_the_prompt_its_cuts_and_every_notch(open_static, folder):
    page = open_static()
    prompt = Pack.load(folder).render((folder / "long.json").read_bytes())
    assert page.evaluate(STANDS) == prompt.text
    assert "for its cap of 60 tokens" in page.locator("#prompt [data-section=notes] .why").first.inner_text()
    most = int(page.locator("#notch").get_attribute("max"))
    for _ in range(most):
        page.keyboard.press("[")
    assert most > 2 and page.locator("#prompt del").count() == 0
    page.select_option("#shown", label="short.json")
    wait_for(page, "document.querySelector('#prompt').textContent.includes('One note.')")
    assert page.locator("#prompt del").count() == 0


def test_a_slider_stands_where_prompts_were_rendered(open_static, folder):
    page = open_static()
    slider, state = "[data-path='sections.notes.budget']", (folder / "long.json").read_bytes()
    steps = {0: 30, 1: 45, 3: 75, 4: 90}
    assert page.locator(slider).get_attribute("max") == "4" and page.locator(slider).input_value() == "2"
    for place, value in steps.items():
        move(page, slider, place)
        wait_for(page, f"document.querySelector('[data-section=notes] .num').textContent.endsWith('/ {value}')")
        assert page.evaluate(STANDS) == Pack.load(folder, tries=[("sections.notes.budget", str(value))]).render(state).text
    move(page, "[data-path='sections.names.budget']", 0)
    wait_for(page, "document.querySelector('[data-section=notes] .num').textContent.endsWith('/ 60')")
    assert page.locator("#yaml").inner_text() == "sections:\n  names:\n    budget: 20\n"
    assert page.locator("[data-path='budget.context']").count() == 1 and page.locator("[data-path='budget.reserve']").count() == 0
    assert page.locator("#preview").is_hidden() and page.locator("#switches").is_hidden()


def test_a_state_without_the_moved_slider_is_shown_as_the_file_has_it(open_static, folder, monkeypatch):
    """Where there are too many states, only the first have prompts with a moved slider."""
    monkeypatch.setattr("promptc.workshop.page.MOST_VIEWS", 12)
    page = open_static()
    move(page, "[data-path='sections.notes.budget']", 4)
    wait_for(page, "document.querySelector('[data-section=notes] .num').textContent.endsWith('/ 90')")
    page.select_option("#shown", label="short.json")
    wait_for(page, "document.querySelector('#prompt').textContent.includes('One note.')")
    assert page.locator("#changes").is_hidden() and page.locator("[data-path]").count() == 0
    assert page.locator("#said").inner_text().startswith("This page has no prompt of this state with the value that you tried")
    page.select_option("#shown", label="long.json")
    wait_for(page, "document.querySelector('[data-section=notes] .num').textContent.endsWith('/ 60')")
    assert page.locator("#said").inner_text() == ""


def test_the_old_prompt_stands_beside_the_new(open_static, folder, tmp_path_factory):
    old = copy_pack(folder, tmp_path_factory.mktemp("old"), "Be kind.", "Be good.")
    page = open_static(against={"main:pack": str(old)})
    assert "Be good." in page.locator("#other").inner_text() and "Be kind." in page.locator("#prompt").inner_text()
    page.click("#difference summary >> nth=0")
    assert page.locator("#difference del").first.text_content() == "good"


def test_a_broken_pack_stands_beside_the_old(open_static, folder, tmp_path_factory):
    old = copy_pack(folder, tmp_path_factory.mktemp("old"), "Be kind.", "Be good.")
    (folder / "pack.yaml").write_text((folder / "pack.yaml").read_text().replace("budget: 60", "budgett: 60"))
    page = open_static(against={"main:pack": str(old)})
    assert "budgett" in page.locator("#finding-body").inner_text()


def test_hostile_texts_are_texts(open_static, folder):
    write_state(folder, "hostile", notes=list(HOSTILE), names=["</del><script>window.hacked = 1</script><!--"] * 30)
    manifest = (folder / "pack.yaml").read_text().replace("budget: 60", "budget: 600")
    (folder / "pack.yaml").write_text(manifest.replace("Be kind.", "</script><img src=x onerror=window.hacked=1>"))
    page = open_static(str(folder / "hostile.json"))
    assert page.evaluate(STANDS) == Pack.load(folder).render((folder / "hostile.json").read_bytes()).text
    assert page.evaluate("window.hacked") is None
    assert page.evaluate("document.querySelectorAll('img, svg, main script, aside script').length") == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_use_it(open_static, scheme):
    page = open_static(scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    found = Axe().run(page)
    assert not found.response["violations"], json.dumps(found.response["violations"], indent=1)[:4000]


@pytest.mark.parametrize("width", [360, 800, 1920])
def test_nothing_is_wider_than_the_window(open_static, folder, width, tmp_path_factory):
    write_state(folder, "wide", notes=["x" * 4_000, "A note."], names=["n" * 300])
    old = copy_pack(folder, tmp_path_factory.mktemp("old"), "Be kind.", "Be good.")
    page = open_static(str(folder / "wide.json"), size=(width, 900), against={"main:pack": str(old)})
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_equal_packs_and_states_make_equal_bytes(folder, tmp_path_factory, monkeypatch):
    made = []
    for name in ("here", "there"):
        copied = copy_pack(folder, tmp_path_factory.mktemp(name), "", "")
        (copied / "state.json").write_bytes((folder / "long.json").read_bytes())
        monkeypatch.chdir(copied)
        made.append(render_static(Bench(".", ("state.json",), against={"main:.": str(copied)})))
        assert str(copied).encode() not in made[-1]
    assert made[0] == made[1]


def test_its_policy_lets_nothing_in(folder):
    html = render_static(Bench(str(folder), (str(folder / "short.json"),))).decode()
    policy = dict(one.split(" ", 1) for one in re.search(r'Content-Security-Policy" content="([^"]*)"', html)[1].split("; "))
    assert policy["default-src"] == policy["base-uri"] == policy["form-action"] == policy["trusted-types"] == "'none'"
    assert re.fullmatch(r"'sha256-[\w+/=]+' 'sha256-[\w+/=]+'", policy["script-src"])
    assert html.index("Content-Security-Policy") < html.index("<style>") < html.index("<script")
    assert not re.search(r"https?://", html) and 'page.js"' not in html
