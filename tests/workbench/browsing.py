"""What a person does in the browser, and what they see; and pictures of that for the docs.

``HANDFUL_PICTURES=docs/pictures python -m pytest tests/workbench -m "" -k pictures`` writes the pictures.
"""

import io
import os
from pathlib import Path

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
FLAGS += ["--disable-component-update", "--disable-sync"]
PATIENCE = 30_000  # milliseconds


def mentions(page, kind="confirmed"):
    """Return type and words of the mentions in the sentence."""
    boxes = page.locator(f"#sentence .m.{kind}")  # all at once: the sentence is drawn anew when a fit is ready
    texts = "boxes => boxes.map(box => [box.dataset.type, ...[...box.querySelectorAll('.w')].map(w => w.innerText)])"
    return [(name, " ".join(words)) for name, *words in boxes.evaluate_all(texts)]


def said(page, text):
    """Wait until the page says something."""
    page.locator("#live", has_text=text).wait_for()


def at_sentence(page, id):
    """Wait until a sentence is on the page."""
    page.locator("#status", has_text=f"Sentence {id} ·").wait_for()


def until(page, expression):
    """Wait until an expression is true; the page's own policy does not let Playwright wait for it."""
    for _ in range(PATIENCE // 50):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"it never is: {expression}")


def enter(page):
    """Accept all that is shown by a key, and go on."""
    accept(page, lambda: page.keyboard.press("Enter"))


def accept(page, press):
    """Accept all that is shown, and go on; if predictions have just changed, the page wants that twice."""
    start = page.inner_text("#status").split(" · ")[0]
    for _ in range(10):
        press()
        seen = page.locator("#status", has_not_text=f"{start} ·").or_(page.locator("#live", has_text="Enter again"))
        seen.first.wait_for()
        if page.inner_text("#status").split(" · ")[0] != start:
            return
        page.locator("#live", has_text="Enter again").evaluate("one => one.textContent = ''")
        page.wait_for_timeout(600)  # what changed must have been on the page for half a second
    raise AssertionError("the sentence is never accepted")


def go_to_a_mention(page, press=None):
    """Go on to a sentence with a predicted mention, without a decision, by a key or what is given."""
    page.wait_for_selector("#fit[data-status=idle]")
    while True:
        page.locator("#status", has_text="Sentence ").and_(
            page.locator("#status", has_not_text="no prediction yet")
        ).wait_for()
        if mentions(page, "predicted"):
            return
        at = page.inner_text("#status").split(" · ")[0]
        (press or (lambda: page.keyboard.press("ArrowDown")))()
        page.locator("#status", has_not_text=f"{at} ·").wait_for()


def drag(page, start, *ends):
    """Drag from one word over others."""
    page.hover(start)
    page.mouse.down()
    for end in ends:
        page.hover(end)
    page.mouse.up()


def drag_border(page, which, *ends, is_right_to_left=False):
    """Drag the start or the end of the first confirmed mention over words."""
    grip = None
    while grip is None:  # the sentence is drawn anew when a fit is ready
        grip = page.locator(f".m.confirmed .grip[data-grip={which}]").first.bounding_box()
    by = 3 if (which == "end") != is_right_to_left else -3
    page.mouse.move(grip["x"] + by, grip["y"] + grip["height"] / 2)
    page.mouse.down()
    for end in ends:
        page.hover(end)
    page.mouse.up()


def picture(page, name):
    """Write a picture for the docs, where they are wanted; few colours keep it small."""
    if folder := os.environ.get("HANDFUL_PICTURES"):
        from PIL import Image

        Path(folder).mkdir(parents=True, exist_ok=True)
        image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
        image = image.quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
        image.save(Path(folder) / f"{name}.png", optimize=True)
