"""The page of `cdcsim compare --html` and the live one of `cdcsim explore` in headless Chromium: they load, their
controls work, axe-core finds nothing."""

from __future__ import annotations

import json
import re
import threading
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
from browser import axe, chromium

from simulator.compare.comparison import compare
from simulator.compare.live import open_server, shared
from simulator.compare.page import page
from simulator.formats import FORMATS, find
from simulator.run.scenario import draft_of

pytestmark = pytest.mark.browser

PICTURES: Final = Path(__file__).parents[1] / "artifacts"

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
  const heads = () => [...document.querySelectorAll("thead th")].map(
    (node) => (node.querySelector("a") || node).textContent);
  const until = async (holds) => { for (let i = 0; i < 3000 && !holds(); i++) await wait();
    if (!holds()) errors.push("never: " + holds); };
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
    found.rows = document.querySelectorAll("table.messages tbody tr").length;
    await pick("pick-differing", "yes");
    found.differing = document.querySelectorAll("table.messages tbody tr").length;
    await pick("pick-differing", "");
    found.groups = texts("#formats-list summary");
    document.querySelector("fieldset button").click(); await wait();
    const first = document.querySelector("table.messages");
    found.all = heads().slice(0, first.querySelectorAll("thead th").length);
    const hue = (node) => getComputedStyle(node).borderTopColor;
    found.hues = new Set([...first.querySelectorAll("thead th.format")].map(hue)).size;
    found.products = new Set(texts("th .product")).size;
    found.snippets = texts(".snippet pre");
    await pick("pick-base", "oms-default"); found.base = heads()[1];
    await pick("pick-kind", "delete"); found.deletes = document.querySelectorAll("#timeline button").length;
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
# The page as it opens; then an address that was passed on, and the members and the values that it marks.
SHOWN: Final = """
    const step = () => text("#timeline [aria-current]"), marks = () => texts("table.messages mark");
    found.opened = [step(), text(".statement"), text(".words")];
    await go("messages?formats=canal-json+dts-canal-json+cloudcanal-json+dts-avro&event=3&sent=raw&theme=dark");
    found.heads = heads().slice(1); found.theme = document.getElementById("theme").value;
    found.sent = texts("pre.sent"); found.notes = [...new Set(texts(".note"))];
    found.copies = [...document.querySelectorAll("td button.copy")].map((node) => node.getAttribute("aria-label"));
    await pick("pick-kind", "update"); document.getElementById("step-1").click(); await wait();
    found.step = step(); found.change = [text(".statement"), text(".words")]; found.address = location.hash;
    const before = texts("table.messages tbody tr:not([hidden]) > th").length, box = document.getElementById("search");
    box.value = "gtid"; box.dispatchEvent(new Event("input"));
    found.named = texts(".note").filter((note) => note.startsWith("called "));
    found.search = [before, texts("table.messages tbody tr[data-words]:not([hidden]) th")];
    const parts = (text, base) => { const result = compared(text, base);
      return [result.pieces.filter((p) => p.to).map((p) => p.text.slice(p.from, p.to)), result.missing, result.note]; };
    found.parts = [
      parts('{"a":1,"b":"x"}', '{"b":"x","a":1}'), parts('{"a":1}', '[{"a":1}]'),
      parts('{"a":1,"c":2}', '{"a":1,"b":2}'),
      parts('"2024-05-01 10:00:00.000"', '"2024-05-01 10:00:00"'),
      parts('{"a":{"b":[1,2]}}', '{"a":{"b":[1,3]}}'), parts("[1.50]", "[1.5]"),
    ];
"""
# Two formats, which the reader picks; the rest is folded away.
NARROW: Final = """
    found.heads = heads(); found.open = document.getElementById("choices").open;
    await pick("pick-right", "dts-avro"); await pick("pick-left", "oms-default");
    found.picked = heads(); found.address = location.hash; found.wide = document.body.scrollWidth > innerWidth;
    await go("types"); found.types = heads().slice(1);
    await go("messages"); const report = await axe.run(document);
    found.violations = report.violations.map((each) => [each.id, each.nodes[0].html]);
"""
# The result goes to the page around the frame.
FRAMED: Final = """
    const outer = parent.document.createElement("pre");
    outer.id = "result";
    outer.textContent = JSON.stringify({ errors, found });
    parent.document.body.append(outer);
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
# Messages follow the text; an error keeps the last ones in grey; SQL, other formats and systems.
LIVE: Final = """
    const at = (id) => document.getElementById(id), draft = at("draft");
    const good = () => text("#state") === "The messages are those of this text.";
    const type = (value) => { draft.value = value; draft.dispatchEvent(new Event("input")); };
    const shown = (word) => texts("td.message").some((cell) => cell.includes(word));
    await until(good); found.first = shown("Grace"); found.heads = heads();
    const yaml = draft.value;
    draft.focus(); type(yaml.replace("customer: Grace", "customer: Hedy")); await until(() => shown("Hedy"));
    found.tokens = [texts(".token-text").includes('"decimal(10,2)"'), text("#colours") === draft.value + "\\n"];
    found.lines = text("#numbers").trim().split("\\n").length === draft.value.split("\\n").length;
    at("share").click(); await until(() => location.hash.includes("draft=")); found.shared = location.hash;
    found.focus = document.activeElement.id; found.gone = !shown("Grace");
    type(draft.value.replace("type: string(20)", "type: strng(20)")); await until(() => !at("mistake").hidden);
    found.mistake = text("#mistake p"); found.stale = at("main").className; found.kept = shown("Hedy");
    document.querySelector("#mistake button").click();
    found.marked = draft.value.slice(draft.selectionStart, draft.selectionEnd);
    type(yaml); await until(good); found.fresh = at("main").className;
    await pick("pick-right", "dts-avro"); await until(() => heads().includes("dts-avro"));
    found.violations = [];
    for (const theme of ["light", "dark"]) { await pick("theme", theme);
      const report = await axe.run(document);
      found.violations.push(...report.violations.map((each) => [theme, each.id, each.nodes[0].html])); }
    await pick("pick-source", "oracle");
    await until(() => good() && !texts("#pick-left option").includes("canal-json")); found.oracle = heads().slice(1);
    await pick("language", "sql"); await until(() => text("#mistake p").includes("not on oracle"));
    await pick("pick-source", "");
    await until(() => good() && texts("#timeline button").some((name) => name.includes("CREATE TABLE")));
    await go("types"); await until(() => heads().length > 1); found.types = heads()[0];
    await go("events"); found.events = texts("tbody th").length;
    await go(found.shared.slice(1)); await until(() => good() && draft.value.includes("Hedy"));
    found.language = at("language").value;
    found.wide = document.body.scrollWidth > innerWidth;
"""


@cache
def html() -> str:
    return page("compare", sources=["mysql", "oracle"])


def found_in(folder: Path, steps: str, *scripts: str, page: str | None = None) -> dict[str, Any]:
    file = folder / "page.html"
    file.write_text(harnessed(page or html(), steps, *scripts), encoding="utf-8")
    return found_at(file.as_uri())


def harnessed(page: str, steps: str, *scripts: str) -> str:
    """The page, in which the steps are taken once it is ready."""
    more = "".join(f"<script>{script}</script>" for script in scripts)
    page = page.replace("<head>", "<head>" + HARNESS, 1)
    return page.replace("</body>", more + RUN.replace("STEPS", steps) + "</body>")


def found_at(address: str, *arguments: str) -> dict[str, Any]:
    dom = chromium(address, "--virtual-time-budget=100000", "--dump-dom", *arguments)
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
    assert found["groups"][:2] == ["Alibaba Canal 1 of 1", "CloudCanal 1 of 4"]
    assert found["hues"] == found["products"] == len({find(name).product for name in FORMATS})
    command, fixture = found["snippets"]
    step = "cdcsim show compare -f canal-json --source mysql --step 'update of one column'"
    assert command == f"cdcsim run compare -f canal-json --source mysql --limit 100\n{step}"
    assert '@pytest.mark.cdc("compare", "canal-json", source="mysql", limit=100)\n' in fixture
    assert 0 < found["differing"] < found["rows"]
    assert found["base"] == "oms-default"
    assert found["deletes"] == 1
    assert "recordType in oms-default: INSERT, UPDATE, DELETE" in found["field"]
    assert found["closed"]
    assert not found["without"]
    assert "dts-avro" in found["oracle"]
    assert "canal-json" not in found["oracle"]
    assert found["events"] == sorted(FORMATS)
    assert found["rabbitmq"] == [name for name in sorted(FORMATS) if "rabbitmq" in find(name).brokers]
    assert (found["type"], found["least"]) == ("bigint", "-9223372036854775808")
    assert found["formats"] == sorted(FORMATS)
    assert (found["option"], found["notes"]) == ("images", True)
    assert found["dark"] != found["light"]


def test_messages_as_sent_and_what_differs(tmp_path: Path) -> None:
    found = found_in(tmp_path, SHOWN)
    assert found["opened"] == [
        "update of one column",
        "UPDATE orders SET paid = 1 WHERE id = 2;\n",
        "UPDATE shop.orders  id=2  paid: 0 → 1",
    ]
    assert found["heads"] == ["canal-json", "cloudcanal-json", "dts-avro", "dts-canal-json"]
    assert found["theme"] == "dark"
    formats = ["canal-json", "cloudcanal-json", "dts-avro", "dts-canal-json"]
    event = compare("compare", formats, source="mysql").events[2]
    canal, cloud, avro, dts = (event.messages[format][0] for format in formats)
    assert avro.binary is not None
    assert found["sent"][:3] == [canal.value, cloud.value, avro.value]
    assert found["sent"][4] == dts.value
    assert "".join(line[6:29].replace(" ", "") for line in found["sent"][3].splitlines()) == avro.binary.hex()
    assert "called data in canal-json" in found["named"]
    assert found["copies"][1:4] == ["Copy cloudcanal-json", "Copy decoded dts-avro", "Copy hex dts-avro"]
    assert found["step"] == "update of the key"
    assert found["change"] == ["UPDATE orders SET id = 22 WHERE id = 2;\n", "UPDATE shop.orders  id=2  id: 2 → 22"]
    assert "kind=update" in found["address"]
    assert "event=1" in found["address"]
    before, rows = found["search"]
    assert 0 < len(rows) < before
    assert found["parts"] == [
        [[], [], "same values, other order"],
        [[], [], "same values, other shape"],
        [['"c"', "2"], ["b"], ""],
        [[".000"], [], ""],
        [["2"], [], ""],
        [["1.50"], [], ""],
    ]


def test_formats_that_were_named_are_shown(tmp_path: Path) -> None:
    """`orders` in the event that is shown first: one message of canal-json for three rows of a table."""
    formats = ["canal-json", "dts-avro", "oms-default"]
    named = page("orders", formats, sources=["mysql"], limit=8)
    found = found_in(tmp_path, "found.heads = heads();", page=named)
    both, alone = formats, formats[1:]
    rows = [both, both, alone, alone, both, alone, alone, both]
    assert found["heads"] == [head for n, row in enumerate(rows, 1) for head in (f"message {n}", *row)]


def test_two_formats_at_390_pixels(tmp_path: Path) -> None:
    """In a frame: Chromium's own window is wider."""
    (tmp_path / "inner.html").write_text(harnessed(html(), NARROW + FRAMED, axe()), encoding="utf-8")
    frame = (
        '<html><body><iframe src="inner.html" style="width: 390px; height: 844px; border: 0"></iframe></body></html>'
    )
    (tmp_path / "page.html").write_text(frame)
    found = found_at((tmp_path / "page.html").as_uri(), "--allow-file-access-from-files", "--window-size=800,900")
    assert (found["heads"], found["open"]) == (["message 1", "canal-json", "dts-canal-json"], False)
    assert found["picked"] == ["message 1", "oms-default", "dts-avro"]
    assert "formats=oms-default+dts-avro" in found["address"]
    assert not found["wide"]
    assert found["types"] == ["oms-default", "dts-avro"]
    assert found["violations"] == []


def test_axe_finds_nothing(tmp_path: Path) -> None:
    found = found_in(tmp_path, ACCESSIBLE, axe())
    assert found["violations"] == []
    assert found["passes"] > 100


@pytest.mark.parametrize(
    ("name", "size", "theme"),
    [("desktop", "1400,1000", "light"), ("desktop-dark", "1400,1000", "dark"), ("phone", "500,900", "light")],
)
def test_it_fits_the_screen(tmp_path: Path, name: str, size: str, theme: str) -> None:
    """Nothing but the tables is wider than the screen. The picture stays in tests/artifacts, to be looked at."""
    PICTURES.mkdir(exist_ok=True)
    file, picture = tmp_path / "page.html", PICTURES / f"compare-{name}.png"
    picture.unlink(missing_ok=True)
    themed = html().replace('<html lang="en">', f'<html lang="en" data-theme="{theme}">')
    check = "setTimeout(() => { if (document.body.scrollWidth > innerWidth) document.body.replaceChildren(); }, 500);"
    file.write_text(themed.replace("</body>", f"<script>{check}</script></body>"), encoding="utf-8")
    chromium(file.as_uri(), "--virtual-time-budget=5000", f"--window-size={size}", f"--screenshot={picture}")
    assert picture.stat().st_size > 40_000


def test_messages_follow_the_editor() -> None:
    with open_server(draft_of("compare")) as server:
        server.page = harnessed(server.page.decode(), LIVE, axe()).encode()
        serving = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        serving.start()
        try:
            found = found_at(server.url, "--window-size=500,900")
        finally:
            server.shutdown()
            serving.join()
    assert (found["first"], found["gone"], found["kept"]) == (True, True, True)
    assert found["heads"][1:] == ["canal-json", "dts-canal-json"]  # a narrow window begins with two
    assert found["focus"] == "draft"
    assert found["mistake"].startswith("scenarios/compare.yaml:14: tables.orders.columns.customer.type: 'strng' is")
    assert (found["stale"], found["fresh"]) == ("stale", "")
    assert found["marked"].strip() == "customer: {type: strng(20), nullable: no}"
    assert found["violations"] == []
    assert "dts-avro" in found["oracle"]
    assert found["events"] == len(FORMATS)
    assert not found["wide"]
    draft = shared(f"http://127.0.0.1:1/else/{found['shared']}")
    assert draft is not None
    assert (draft.file, "customer: Hedy" in draft.text, found["language"]) == ("scenario.yaml", True, "yaml")
    assert found["tokens"] == [True, True]
    assert found["lines"]
    assert found["types"] == "tinyint"
