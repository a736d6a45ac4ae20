"""How soon a page of the workbench shows what a decision changed, measured in Chromium from the key on.

    python benchmarks/workbench_page.py TEXT TYPES [--sentences 20000] [--decisions 15] [--also OTHER/src]

The text may be .gz; it is repeated, with a number in each sentence, if it is shorter than asked for. A person presses
Enter on one sentence after the other. Columns, in seconds from the key: the next sentence is on the page; it has the
predictions of a fit that knows the decision; the list is in the order of that fit. The last column is the seconds of a
processor that the server used until then: other work on the machine changes it little. Rows: the best and the median of
all decisions. With --also the workbench of another checkout runs beside this one, and the decisions alternate, so that
both have the same machine: other work on it disturbs both alike.

It needs the extra `web`, Playwright and Chromium.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

from measure import describe_machine
from playwright.sync_api import sync_playwright
from workbench_open import write_corpus

OURS = Path(__file__).resolve().parents[1] / "src"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
FLAGS += ["--disable-backgrounding-occluded-windows", "--disable-renderer-backgrounding"]
CALM = 0.7  # seconds between what is seen and the next key, as a page wants them

WATCH = """async () => {
    const { app, on } = await import("/static/app.js");
    const seen = (window.seen = { app, ranked: 0, listed: 0 });
    on("queue", (fit) => (seen.ranked = fit ?? app.state.fit.queue));
    const drawn = new MutationObserver(() => {
        if (!seen.listed && seen.ranked > seen.number) seen.listed = performance.now();
    });
    drawn.observe(document.getElementById("queue-list"), { childList: true });
    addEventListener("keydown", () => {
        const { id } = app.sentence;
        const { number } = app.state.fit;
        Object.assign(seen, { key: performance.now(), next: 0, changed: 0, listed: 0, number });
        const look = () => {
            const now = performance.now();
            if (!seen.next && app.sentence.id !== id) seen.next = now;
            if (seen.next && app.sentence.fit > number) return (seen.changed = now);
            requestAnimationFrame(look);
        };
        requestAnimationFrame(look);
    }, { capture: true });
}"""


@contextmanager
def running(source, arguments):
    """Run the workbench of a checkout; give its address and its process."""
    command = [sys.executable, "-u", "-m", "handful", "label", *arguments, "--no-browser", "--port", "0"]
    environment = os.environ | {"PYTHONPATH": str(source)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            yield next(line for line in process.stdout if line.startswith("http")).strip(), process.pid
        finally:
            process.terminate()


def wait(page, expression):
    """Wait until it holds; the page's policy does not let Playwright evaluate it by itself."""
    while not page.evaluate(expression):
        time.sleep(0.02)


def used(pid):
    """Return the seconds of a processor that a process has used; 0 where Linux does not say so."""
    stat = Path(f"/proc/{pid}/stat")
    fields = stat.read_text().rpartition(")")[2].split() if stat.exists() else [0] * 13
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def decide(page, pid):
    """Press Enter; return the seconds until the next sentence, its predictions, and the queue by the new fit.

    The last ones are those of a processor, until the queue.
    """
    page.bring_to_front()
    time.sleep(CALM)
    before = used(pid)
    page.keyboard.press("Enter")
    while page.evaluate("() => !seen.next && document.getElementById('live').textContent.includes('again')"):
        page.keyboard.press("Enter")  # something was not in sight
        time.sleep(0.1)
    wait(page, "() => seen.changed > 0 && seen.listed > 0")
    cost = used(pid) - before
    wait(page, "() => seen.app.state.fit.status === 'idle'")
    return [*page.evaluate("() => [seen.next, seen.changed, seen.listed].map((at) => (at - seen.key) / 1000)"), cost]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text")
    parser.add_argument("types")
    parser.add_argument("--sentences", type=int, default=20_000)
    parser.add_argument("--decisions", type=int, default=15)
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--also", type=Path, action="append", default=[], help="the src of another checkout")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        corpus = write_corpus(options.text, options.sentences, Path(folder) / "corpus.txt")
        size = f"{options.sentences:,} sentences, {corpus.stat().st_size / 1e6:.1f} MB"
        print(f"{describe_machine()}; {size}", flush=True)
        chromium = shutil.which("chromium") or shutil.which("chromium-browser")
        playwright = stack.enter_context(sync_playwright())
        browser = stack.enter_context(playwright.chromium.launch(executable_path=chromium, args=FLAGS))
        pages = {}
        for i, source in enumerate([OURS, *options.also]):
            arguments = [str(corpus), "--types", options.types, "--project", str(Path(folder) / f"{i}.db")]
            arguments += ["--threads", str(options.threads)] if options.threads else []
            page = browser.new_page()
            address, pid = stack.enter_context(running(source, arguments))
            page.goto(address)
            page.wait_for_selector("#w0", timeout=120_000)
            page.evaluate(WATCH)
            wait(page, "() => seen.app.state?.fit.status === 'idle' && seen.app.state.fit.number > 0")
            pages[source] = page, pid
        times = {source: [] for source in pages}
        for n in range(options.decisions):
            for source, of in pages.items():
                times[source].append(decide(*of))
                print(f"{n + 1:3}  {source}: " + ", ".join(f"{one:.3f}" for one in times[source][-1]), flush=True)
        print("\n                 next, s  predictions, s  queue, s  processor, s")
        for source, rows in times.items():
            print(source)
            for name, of in (("best", min), ("median", statistics.median)):
                print(
                    "  {:6}       {:9.3f}  {:14.3f}  {:8.3f}  {:12.2f}".format(name, *map(of, zip(*rows, strict=True)))
                )


if __name__ == "__main__":
    main()
