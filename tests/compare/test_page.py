"""The page of `cdcsim compare --html` in headless Chromium: it loads, its controls work, axe-core finds nothing."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from simulator.compare.page import page
from simulator.formats import FORMATS

pytestmark = pytest.mark.browser

CHROMIUM: Final = next(filter(shutil.which, ("chromium", "chromium-browser", "google-chrome")), "chromium")
OPTIONS: Final = ("--headless", "--no-sandbox", "--disable-gpu")
AXE: Final = "axe-core@4.10.3"
CACHE: Final = Path.home() / ".cache" / "cdcsim" / "axe"

# Runs in the page and leaves what it found in it.
HARNESS: Final = """
<script>
const errors = [];
addEventListener("error", (e) => errors.push(String(e.message)));
addEventListener("unhandledrejection", (e) => errors.push(String(e.reason)));
</script>
"""
RUN: Final = """
<script>
(async () => {
  const wait = () => new Promise((done) => setTimeout(done, 20));
  while (!document.documentElement.dataset.ready && !errors.length) await wait();
  const pick = async (id, value) => { const node = document.getElementById(id); node.value = value;
    if (node.value !== value) errors.push(id + " has no " + value);
    node.dispatchEvent(new Event("change")); await wait(); };
  const go = async (hash) => { location.hash = hash; await wait(); await wait(); };
  const texts = (selector) => [...document.querySelectorAll(selector)].map((node) => node.textContent);
  const heads = () => texts("thead th");
  const text = (selector) => (document.querySelector(selector) || { textContent: "" }).textContent;
  const found = {};
  try { STEPS } catch (error) { errors.push(String(error.stack)); }
  const pre = document.createElement("pre");
  pre.id = "result";
  pre.textContent = JSON.stringify({ errors, found });
  document.body.append(pre);
})();
</script>
"""
CONTROLS: Final = """
    found.loaded = text("h2");
    document.querySelector("fieldset button").click(); await wait();
    found.all = texts("table.messages thead th").slice(0, 17);
    found.rows = document.querySelectorAll("table.messages tbody tr").length;
    await pick("pick-differing", "yes");
    found.differing = document.querySelectorAll("table.messages tbody tr").length;
    await pick("pick-differing", "");
    await pick("pick-base", "oms-default"); found.base = heads()[1];
    await pick("pick-kind", "delete"); found.deletes = document.querySelectorAll("#pick-event option").length;
    document.querySelector("button.member").click(); found.field = text("#field");
    document.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }));
    found.closed = document.getElementById("field").hidden;
    document.querySelector('#formats-list input[value="canal-json"]').click(); await wait();
    found.without = heads().includes("canal-json");
    await pick("pick-source", "oracle"); found.oracle = texts("#formats-list label");
    await go("events"); found.events = texts("tbody th");
    await pick("pick-broker", "rabbitmq"); found.rabbitmq = texts("tbody th");
    await go("types"); await pick("pick-source", "mysql"); await pick("pick-type", "bigint"); found.type = heads()[0];
    found.least = text("tbody th");
    await go("formats"); found.formats = texts("main li a");
    await go("format/dts-canal-json"); found.option = text("main tbody th");
    found.notes = text(".notes").includes("2022-03-20");
    await pick("theme", "dark"); found.dark = getComputedStyle(document.body).backgroundColor;
    await pick("theme", "light"); found.light = getComputedStyle(document.body).backgroundColor;
"""
ACCESSIBLE: Final = """
    found.violations = []; found.passes = 0;
    const views = ["messages", "events", "types", "formats", "format/dts-avro"];
    for (const theme of ["light", "dark"]) for (const view of views) {
      await pick("theme", theme); await go(view);
      const report = await axe.run(document); found.passes += report.passes.length;
      for (const each of report.violations)
        found.violations.push([theme, view, each.id, each.nodes.length, each.nodes[0].html.slice(0, 200)]);
    }
"""


@cache
def html() -> str:
    return page("compare", sources=["mysql", "oracle"])


def chromium(file: Path, *arguments: str) -> str:
    profile = tempfile.mkdtemp(prefix="cdcsim-chromium-")
    try:
        done = subprocess.run(
            [
                CHROMIUM,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                f"--user-data-dir={profile}",
                *arguments,
                file.as_uri(),
            ],
            capture_output=True,
            text=True,
            timeout=300,
            check=True,
        )
    finally:
        shutil.rmtree(profile, ignore_errors=True)
    return done.stdout


def found_in(folder: Path, steps: str, *scripts: str) -> dict[str, Any]:
    file = folder / "page.html"
    more = "".join(f"<script>{script}</script>" for script in scripts)
    text = (
        html()
        .replace("<head>", "<head>" + HARNESS, 1)
        .replace("</body>", more + RUN.replace("STEPS", steps) + "</body>")
    )
    file.write_text(text, encoding="utf-8")
    dom = chromium(file, "--virtual-time-budget=100000", "--dump-dom")
    result = re.search(r'<pre id="result">(.*?)</pre>', dom, re.DOTALL)
    assert result is not None, dom[-2000:]
    document = json.loads(result[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
    assert document["errors"] == []
    found: dict[str, Any] = document["found"]
    return found


def test_the_controls_work(tmp_path: Path) -> None:
    found = found_in(tmp_path, CONTROLS)
    assert found["loaded"] == "Messages"
    assert found["all"][0] == "message 1"
    assert sorted(found["all"][1:]) == sorted(FORMATS)
    assert 0 < found["differing"] < found["rows"]
    assert found["base"] == "oms-default"
    assert found["deletes"] == 1
    assert "recordType in oms-default: INSERT, UPDATE, DELETE" in found["field"]
    assert found["closed"]
    assert not found["without"]
    assert "dts-avro" in found["oracle"]
    assert "canal-json" not in found["oracle"]
    assert found["events"] == sorted(FORMATS)
    assert found["rabbitmq"] == ["canal-json", "cloudcanal-canal-json", "cloudcanal-json"]
    assert (found["type"], found["least"]) == ("bigint", "-9223372036854775808")
    assert found["formats"] == sorted(FORMATS)
    assert (found["option"], found["notes"]) == ("images", True)
    assert found["dark"] != found["light"]


def test_axe_finds_nothing(tmp_path: Path) -> None:
    found = found_in(tmp_path, ACCESSIBLE, axe())
    assert found["violations"] == []
    assert found["passes"] > 100


def axe() -> str:
    """axe-core, fetched once."""
    file = CACHE / "package" / "axe.min.js"
    if not file.exists():
        if shutil.which("npm") is None:
            pytest.skip("npm fetches axe-core, and is not there")
        CACHE.mkdir(parents=True, exist_ok=True)
        subprocess.run(["npm", "pack", AXE], cwd=CACHE, check=True, capture_output=True, timeout=300)
        (archive,) = CACHE.glob("*.tgz")
        shutil.unpack_archive(archive, CACHE, filter="data")
    return file.read_text(encoding="utf-8").replace("</script", "<\\/script")


@pytest.mark.parametrize(("name", "size", "theme"), [("desktop", "1400,1000", "light"), ("phone", "500,900", "dark")])
def test_it_fits_the_screen(tmp_path: Path, name: str, size: str, theme: str) -> None:
    """Nothing but the tables is wider than the screen. The picture stays with the test's files, to be looked at."""
    file, picture = tmp_path / "page.html", tmp_path / f"{name}.png"
    themed = html().replace('<html lang="en">', f'<html lang="en" data-theme="{theme}">')
    check = "setTimeout(() => { if (document.body.scrollWidth > innerWidth) document.body.replaceChildren(); }, 500);"
    file.write_text(themed.replace("</body>", f"<script>{check}</script></body>"), encoding="utf-8")
    chromium(file, "--virtual-time-budget=5000", f"--window-size={size}", f"--screenshot={picture}")
    assert picture.stat().st_size > 40_000
