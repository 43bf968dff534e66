"""The web page in a real browser, as a person uses it. Skipped where there is no Chromium to drive.

Pictures of it are kept in the folder that REMASK_ARTIFACTS names, else with the tests' temporary files."""

import os
import re
import shutil
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from remask.agent.serve.service import Service
from remask.dllm.draft import Draft, Source, Token
from remask.dllm.scripted import ScriptedGenerator, pointing
from remask.retrieval import Document, HashEmbedder, Index
from remask.retrieval.load import load

from .running import in_memory, served, service_over

sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright to drive a browser")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Debian's chromium, or another one on the path")
SAMPLES = Path(__file__).resolve().parents[3] / "templates" / "samples"
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    folder = Path(os.environ.get("REMASK_ARTIFACTS") or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as driver:
        one = driver.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield one
        one.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page that fails the test for any error of its scripts, any breach of its policy, any look elsewhere."""
    with browser.new_context(viewport={"width": 1280, "height": 800}) as context:
        one = context.new_page()
        one.set_default_timeout(60_000)
        wrong: list[str] = []
        one.on("pageerror", lambda error: wrong.append(str(error)))
        one.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
        one.on("request", lambda sent: wrong.append(sent.url) if "//127.0.0.1:" not in sent.url else None)
        yield one
        assert wrong == []


def designed(prompt: Any) -> Draft:
    return pointing(prompt, "Henrik Dahl" if "Who" in prompt.question else "March 2018")


@pytest.fixture(scope="module")
def reading() -> Iterator[str]:
    """A model of known words over the sample documents: for what does not depend on the model."""
    index = Index.create(load(SAMPLES / "b7_buoy.html"), embedder=HashEmbedder(64))
    with served(service_over(index, ScriptedGenerator(designed))) as address:
        yield address


def asked(page: Any, address: str, question: str) -> None:
    page.goto(address)
    page.get_by_label("Your question").fill(question)
    page.keyboard.press("Enter")
    page.locator(".said").last.wait_for()
    page.locator(".trace").last.wait_for(state="attached")


def test_a_person_asks_watches_the_passes_and_opens_a_citation(page: Any, pictures: Path) -> None:
    """The shipped model, a real question."""
    from remask.dllm.mini.reader import EmbeddedReader

    index = Index.create(load(SAMPLES), embedder=HashEmbedder(64))
    with served(Service(index, EmbeddedReader.load())) as address:
        asked(page, address, "Who designed the B-7 wave buoy?")
        _looked_at(page, pictures)


def _looked_at(page: Any, pictures: Path) -> None:
    assert page.locator(".said").first.inner_text().startswith("Henrik Dahl")
    names = page.locator(".canvas .when").all_inner_texts()
    assert names[0] == "canvas"
    assert "pass 1" in names
    assert page.locator(".canvas li").first.locator(".slot.masked").count() > 3
    shades = page.locator(".slot.shaded").evaluate_all("all => all.map(one => one.style.getPropertyValue('--sure'))")
    assert shades
    assert all(0 <= float(shade) <= 1 for shade in shades)
    page.locator(".cite").first.click()
    mark = page.locator("#source mark")
    mark.wait_for()
    assert mark.inner_text() == "It was designed by Henrik Dahl and went on sale in March 2018."
    assert page.evaluate("document.activeElement.id") == "source-title"
    page.screenshot(path=pictures / "citation.png")
    page.keyboard.press("Escape")
    assert page.locator("#source").is_hidden()
    assert page.evaluate("document.activeElement.className") == "cite"
    assert "citation" in page.locator("#live").inner_text()
    page.get_by_text("How it came about").click()
    assert page.get_by_role("cell", name="retrieve").is_visible()


def test_a_follow_up_is_understood_in_the_same_conversation(page: Any, reading: str) -> None:
    asked(page, reading, "Who designed the B-7 wave buoy?")
    page.get_by_label("Your question").fill("and when did it go on sale?")
    page.get_by_role("button", name="Ask").click()
    page.locator(".turn").nth(1).locator(".said").wait_for()
    assert "B-7" in page.get_by_text("asked in full").inner_text()
    page.get_by_role("button", name="New conversation").click()
    assert page.locator(".turn").count() == 0


@pytest.mark.parametrize(("scheme", "width"), [("light", 360), ("dark", 360), ("dark", 1280)])
def test_nothing_is_cut_off_at_any_width_or_scheme(
    page: Any, reading: str, scheme: str, width: int, pictures: Path
) -> None:
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 740})
    asked(page, reading, "Who designed the B-7 wave buoy?")
    page.locator(".cite").first.click()
    page.locator("#source mark").wait_for()
    page.screenshot(path=pictures / f"{scheme}-{width}.png")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("#source mark").bounding_box()["width"] <= width
    dark = page.evaluate(
        "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3).every(c => c < 60)"
    )
    assert dark == (scheme == "dark")


def test_everything_can_be_reached_by_keyboard_and_has_a_name(page: Any, reading: str) -> None:
    asked(page, reading, "Who designed the B-7 wave buoy?")
    reached: set[str] = set()
    for _ in range(30):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.id || document.activeElement.className"))
    assert {"open-documents", "new-conversation", "cite", "question", "send"} <= reached
    nameless = page.evaluate(
        "[...document.querySelectorAll('button, input, textarea')].filter(e => e.offsetParent)"
        ".filter(e => !(e.ariaLabel || e.innerText || e.labels?.length)).map(e => e.outerHTML)"
    )
    assert nameless == []
    assert page.locator("h1").count() == 1
    assert page.get_attribute("html", "lang") == "en"


WAVES = "🌊🌊 Ebbe. Die Flut 🌊 kam um fünf, wie der Wärter 👩🏽‍🚒 schrieb. Danach fiel sie."
QUOTE = "Die Flut 🌊 kam um fünf, wie der Wärter 👩🏽‍🚒 schrieb."


def test_a_quotation_is_marked_where_it_stands_whatever_the_characters(page: Any) -> None:
    def draft(prompt: Any) -> Draft:
        at = prompt.evidence[0].text.index("um fünf")
        return Draft("um fünf", (Token(0, 7, 0.9, Source(0, at, at + 7)),), confidence=0.9)

    index = Index.create([Document(id="a/b?c#d 🌊.txt", text=WAVES, title="Flut 🌊")], embedder=HashEmbedder(16))
    with served(service_over(index, ScriptedGenerator(draft))) as address:
        asked(page, address, "Wann kam die Flut?")
        page.locator(".cite").first.click()
        page.locator("#source mark").wait_for()
        assert page.locator("#source mark").inner_text() in (QUOTE, f"🌊🌊 Ebbe. {QUOTE}")
        assert page.locator("#source-text").inner_text() == WAVES


EVIL = '<img src=x onerror="window.owned=1"><script>window.owned=1</script><b>The fresco</b> is from 1952.'


def test_markup_in_documents_answers_and_questions_stays_text(page: Any) -> None:
    def draft(prompt: Any) -> Draft:
        return Draft(EVIL, (Token(0, len(EVIL), 0.2, Source(0, 0, len(EVIL))),), confidence=0.9)

    index = Index.create([Document(id=EVIL[:60], text=EVIL, title=EVIL)], embedder=HashEmbedder(16))
    with served(service_over(index, ScriptedGenerator(draft))) as address:
        asked(page, address, f"fresco {EVIL}")
        assert EVIL in page.locator(".said").inner_text()
        page.locator(".quotes button").first.click()
        page.locator("#source mark").wait_for()
        page.get_by_role("button", name="Documents").click()
        page.locator("#documents-list li").wait_for()
        assert page.evaluate("window.owned") is None
        assert page.locator("main img, main script, main b, aside b").count() == 0


def test_what_is_masked_again_is_struck_out_with_the_reason(page: Any) -> None:
    doubtful = Draft("1990", (Token(0, 4, 0.1, Source(0, 0, 4)),), confidence=0.6)
    better = Draft("1952", (Token(0, 4, 0.9),), confidence=0.9)
    with served(service_over(in_memory(), ScriptedGenerator([doubtful], [better]))) as address:
        asked(page, address, "When did Mira Holt restore the fresco of Saint Anne?")
        assert "1990" in page.locator(".canvas del").first.inner_text()
        assert page.locator(".canvas li:has(del) .why").first.inner_text()
        assert page.locator(".slot.unsure").count() >= 1


def test_documents_are_added_and_removed_from_the_page(page: Any, tmp_path: Path) -> None:
    note = tmp_path / "petrel.md"
    note.write_text("# Petrel\n\nThe boat is called Petrel.", encoding="utf-8")
    with served(service_over(in_memory())) as address:
        page.set_viewport_size({"width": 360, "height": 740})
        page.goto(address)
        page.get_by_role("button", name="Documents").click()
        page.locator("#documents-list li").nth(2).wait_for()
        page.get_by_label("Add files").set_input_files(note)
        page.get_by_role("button", name="Add", exact=True).click()
        page.get_by_text("1 added").wait_for()
        assert page.locator("#documents-list li").count() == 4
        page.get_by_role("button", name="Remove Petrel").click()
        page.get_by_role("button", name="Really remove Petrel?").click()
        page.get_by_text("Petrel is removed").wait_for()
        assert page.locator("#documents-list li").count() == 3
        assert page.locator("#about").inner_text() == "3 documents, 3 passages"


def test_a_server_with_keys_asks_the_page_for_one(browser: Any) -> None:
    with (
        browser.new_context() as context,
        served(service_over(in_memory(), keys=("correct-horse-battery",))) as address,
    ):
        page = context.new_page()
        page.goto(address)
        page.get_by_label("Key", exact=True).fill("correct-horse-battery")
        page.get_by_role("button", name="Use it").click()
        page.get_by_text(re.compile("3 documents")).wait_for()


def test_the_page_is_shipped_whole_and_takes_nothing_from_elsewhere() -> None:
    static = files("remask.agent.serve").joinpath("static")
    texts = {entry.name: entry.read_text(encoding="utf-8") for entry in static.iterdir()}
    assert {"index.html", "page.css", "app.js"} <= texts.keys()
    for name, text in texts.items():
        outside = set(re.findall(r"https?://[^\s\"']+", text)) - {"http://www.w3.org/2000/svg"}
        assert not outside, name
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|<[^>]+\son\w+=|style=", text
        ), name
    for wanted in re.findall(r'"/static/([^"]+)"', texts["index.html"]):
        assert wanted in texts
