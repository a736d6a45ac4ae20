"""The page to try the server, in a real browser."""

import shutil

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
GET_IT = "the page is tried in a browser: apt-get install chromium, and pip install playwright"


def test_text_in_mentions_out(served):
    if CHROMIUM is None:
        pytest.skip(f"there is no Chromium; {GET_IT}")
    api = pytest.importorskip("playwright.sync_api", reason=f"there is no Playwright; {GET_IT}")
    problems = []
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page()
        page.set_default_timeout(30_000)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda line: problems.append(line.text) if line.type == "error" else None)
        page.goto(served.url)
        page.wait_for_selector("#types dt")
        assert page.locator("#types dd").all_inner_texts() == ["L places", "P people"]
        page.fill("#text", "😀 so Pia <b>met</b> Leeds")
        page.keyboard.press("Control+Enter")
        page.wait_for_selector("mark")
        marks = [one.split()[0] for one in page.locator("mark").all_inner_texts()]
        assert marks == ["PiaPER", "LeedsLOC"]
        assert page.locator("#found").inner_text().startswith("😀 so Pia")
        assert "<b>met</b>" in page.locator("#found").inner_text()
        page.select_option("#model", "gods")
        assert page.locator("#types dd").all_inner_texts() == ["G gods"]
        page.fill("#text", "so Gaia slept")
        page.click("button")
        page.wait_for_selector("mark:has-text('Gaia')")
        assert page.locator("mark").count() == 1
        browser.close()
    assert problems == []
