"""The documents tell the truth: console blocks are run, formats are in the table, commands are mentioned."""

from __future__ import annotations

import importlib.util
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import proof
import pytest
import reference
from command import Command, environment

from simulator.cli.commands import cli
from simulator.compare.comparison import compare
from simulator.formats import FORMATS, find, open_codec
from simulator.formats.redelivery import RULES
from simulator.model import DDL, DELETE, HEARTBEAT, INSERT, READ, UPDATE
from simulator.run.faults import report
from simulator.sinks import transport
from simulator.sources import SOURCES
from simulator.sources import find as find_source
from simulator.sources.portable import ARGUMENTS
from simulator.stream.scenario.language import ScenarioSpec
from simulator.stream.scenario.shipped import shipped

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")
TASKS = (ROOT / "simulator" / "cli" / "README.md").read_text("utf-8")
FORMATS_PAGE = (ROOT / "simulator" / "formats" / "FORMATS.md").read_text("utf-8")
# Pages whose commands stand alone; those of tutorials are run in order.
ALONE = (README, TASKS, (ROOT / "simulator" / "sinks" / "kafka" / "README.md").read_text("utf-8"))


TUTORIALS = [
    ROOT / "scenarios" / "LOAD-TEST.md",
    ROOT / "simulator" / "truth" / "CONSUMER-TEST.md",
    ROOT / "simulator" / "formats" / "COMPARE.md",
    ROOT / "simulator" / "CONCEPTS.md",
    ROOT / "simulator" / "sinks" / "FILES.md",
]


FOLDERS = ("scenarios", "simulator", "docker", "tests")
PAGES = [*ROOT.glob("*.md"), *(path for name in FOLDERS for path in (ROOT / name).rglob("*.md"))]


# a slow machine, disk or broker is told about
PASSING = re.compile(r"waiting: .*|messages are acknowledged again, .*|[\d,]+ row changes, .* delivered.*")


def without_passing(text: str) -> str:
    return "".join(line for line in text.splitlines(keepends=True) if not PASSING.fullmatch(line.strip()))


def console_steps(block: str) -> list[tuple[str, str]]:
    """(command, expected output) of each `$` line in a console block."""
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    return [(command, output) for command, _, output in (part.partition("\n") for part in parts)]


STEPS = [
    step
    for page in ALONE
    for block in re.findall(r"```console\n(.*?)```", page, re.DOTALL)
    for step in console_steps(block)
]
OFFLINE = [step for step in STEPS if "kafka://" not in step[0]]
ONLINE = [step for step in STEPS if "kafka://" in step[0]]


def write_files(folder: Path) -> None:
    """The SQL blocks of the page of tasks as files, by the name in their first line: `-- fixture.sql`."""
    for name, text in re.findall(r"```sql\n-- (\S+\.sql)\n(.*?)```", TASKS, re.DOTALL):
        (folder / name).write_text(text, encoding="utf-8")


def words_of(line: str) -> list[str]:
    name, *words = shlex.split(line)
    assert name == "cdcsim"
    return words


def assert_printed(expected: str, actual: str) -> None:
    # an ellipsis stands for anything
    pattern = ".*".join(re.escape(part) for part in expected.split("…"))
    assert re.fullmatch(pattern, actual, re.DOTALL), actual


@pytest.mark.parametrize(("line", "expected"), OFFLINE, ids=[line for line, _ in OFFLINE])
def test_console_block(
    command: Command, line: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    done = command(*words_of(line), status=0)
    assert_printed(expected, done.out + done.err)


def follow(page: str, folder: Path, run: Callable[[list[str]], tuple[int, str]], wanted: Callable[[str], bool]) -> int:
    """Saves the files of a page and runs its wanted commands in order, in one folder; the number of commands.

    A block whose first line is a comment with a file's name is that file. `$ echo $?` prints the exit status of the
    command before it; all others must end with 0. `run` gets the words of a command, and gives status and output.
    """
    steps = status = 0
    for language, text in re.findall(r"```(\w+)\n(.*?)```", page, re.DOTALL):
        if name := re.match(r"(?:#|--) (\S+\.\w+)\n", text):
            (folder / name[1]).write_text(text, encoding="utf-8")
        for line, expected in filter(
            lambda step: wanted(step[0]), console_steps(text) if language == "console" else []
        ):
            if line == "echo $?":
                assert_printed(expected, f"{status}\n")
                status = 0
                continue
            assert status == 0, f"the command before {line!r} ended with exit status {status}"
            status, printed = run(shlex.split(line))
            assert_printed(expected, printed)
            steps += 1
    assert status == 0
    return steps


def other_command(words: list[str], folder: Path) -> tuple[int, str]:
    """Runs `python FILE`, `pytest` or `cat` in a folder; anything else is no command for a page."""
    program = {"python": [], "pytest": ["-m", "pytest", "-p", "no:cacheprovider", "-p", "simulator.pytest_plugin"]}
    if words[0] == "cat":
        return 0, "".join((folder / name).read_text("utf-8") for name in words[1:])
    done = subprocess.run(
        [sys.executable, *program[words[0]], *words[1:]],
        cwd=folder,
        env={**environment(), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("page", TUTORIALS, ids=[page.stem for page in TUTORIALS])
def test_a_tutorial(page: Path, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each command prints what the page says; those that need a broker are run by `brokers/test_readme.py`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")

    def run(words: list[str]) -> tuple[int, str]:
        if words[0] != "cdcsim":
            return other_command(words, tmp_path)
        done = command(*words[1:])
        return done.status, done.out + without_passing(done.err)

    assert follow(page.read_text("utf-8"), tmp_path, run, lambda line: "kafka://" not in line) >= 2


def test_there_are_blocks() -> None:
    assert len(OFFLINE) >= 5
    assert len(ONLINE) >= 1


def test_library_block_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (code,) = re.findall(r"```python\n(?!# test_)(.*?)```", TASKS, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "the page of tasks", "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out.count("\n") >= 5
    assert sum(len(file.read_bytes().splitlines()) for file in (tmp_path / "out").iterdir()) >= 10_000


def test_ci_runs_the_commands_of_the_readme() -> None:
    ci = (ROOT / ".ci" / "run").read_text()
    commands = re.findall(r"```sh\n(.*?)\n```", README, re.DOTALL)
    assert len(commands) == 2
    assert all(command in ci for command in commands)


def test_every_format_is_in_the_table() -> None:
    rows = {
        row[1].strip("` "): [cell.strip() for cell in row]
        for row in (line.split("|") for line in FORMATS_PAGE.splitlines() if line.startswith("| `"))
        if row[1].strip("` ") in FORMATS
    }
    for name in FORMATS:
        format = find(name)
        columns = dict(zip((READ, INSERT, UPDATE, DELETE, DDL, HEARTBEAT), rows[name][4:10], strict=True))
        for kind, cell in columns.items():
            assert (cell == "silent") == (kind in format.silent), f"{name}: {kind.name} says {cell!r}"
        assert (rows[name][3] == "yes") == ("kafka" in format.brokers)


def test_the_table_of_portable_types_is_what_they_become() -> None:
    lines = (ROOT / "scenarios" / "README.md").read_text().splitlines()
    header = next(i for i, line in enumerate(lines) if line.startswith("| portable type |"))
    titles = [cell.strip() for cell in lines[header].split("|")[2:-1]]
    by_title = {title: find_source(id) for id, (_, title, _) in SOURCES.items()}

    def filled(text: str) -> str:
        return text.replace("(p,s)", "(13,3)").replace("(n", "(40").replace("(f)", "(4)")

    rows = [line for line in lines[header + 2 :] if line.startswith("| `")]
    rows = rows[: next((i for i, row in enumerate(rows) if "enum(" in row), 0) + 1]
    shown = set()
    for row in rows:
        portable, *own = (cell.strip(" `") for cell in row.split("|")[1:-1])
        shown.add(portable.partition("(")[0])
        for title, text in zip(titles, own, strict=True):
            source = by_title[title]
            assert source.ddl.type_name(source.from_portable(filled(portable))) == filled(text), (title, portable)
    assert shown == {*ARGUMENTS, "enum"}


@pytest.mark.parametrize("name", reference.PAGES)
def test_the_reference_is_made_of_the_program(name: str, request: pytest.FixtureRequest) -> None:
    """Commands, formats, brokers' URLs, and the picture of a terminal."""
    path, made = ROOT / name, reference.written(name)
    if request.config.getoption("--update-goldens"):
        path.write_text(made, encoding="utf-8")
    assert path.read_text("utf-8") == made, "run pytest tests/test_docs.py -k reference --update-goldens"


def test_the_reference_has_every_command_and_option() -> None:
    page = reference.commands()
    for name, command in cli.commands.items():
        assert f"## `cdcsim {name}`" in page
        assert command.help, f"{name} has no help"
        for option in command.params:
            assert not isinstance(option, click.Option) or option.hidden or option.help, f"{name}: {option.name}"


def test_editors_know_the_language(request: pytest.FixtureRequest) -> None:
    """Each shipped scenario names the schema next to it, which is what `cdcsim schema` prints."""
    schema = ROOT / "scenarios" / "schema.json"
    text = json.dumps(ScenarioSpec.model_json_schema(), indent=1, ensure_ascii=False) + "\n"
    if request.config.getoption("--update-goldens"):
        schema.write_text(text, encoding="utf-8")
    assert schema.read_text("utf-8") == text, "run pytest tests/test_docs.py -k editors --update-goldens"
    for path in shipped().values():
        assert "\n# yaml-language-server: $schema=schema.json\n" in path.read_text("utf-8"), path


@pytest.mark.parametrize("scheme", ["kafka", "rocketmq", "amqp"])
def test_the_table_of_a_url_has_every_option(scheme: str) -> None:
    """The pages of sinks have these tables: see `reference.PAGES`."""
    table = reference.url_options(f"simulator.sinks.{ {'amqp': 'rabbitmq'}.get(scheme, scheme) }.url")()
    named = {name for line in table.splitlines() for name in re.findall(r"([a-z][\w-]+)=", line.split("|")[1])}
    assert named == set(transport(scheme).options)


def heading_anchors(page: Path) -> set[str]:
    """Anchors that GitHub gives the headings of a page."""
    text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_links_lead_somewhere(page: Path) -> None:
    for path, _, anchor in re.findall(r"\]\((?!https?://)([^)#\s]*)(#?)([^)\s]*)\)", page.read_text("utf-8")):
        target = page.parent / path if path else page
        assert target.exists(), path
        assert not anchor or anchor in heading_anchors(target), f"{path}#{anchor}"


def kept_and_renewed() -> str:
    """The members of each format's messages that are renewed when these come again, and those that are kept."""
    lines = ["| format | renewed | kept |", "| --- | --- | --- |"]
    for name in FORMATS:
        format = f"{name},value.converter.schemas.enable=false" if name == "debezium-json" else name
        source = "mysql" if "mysql" in find(name).sources else None
        found = compare("tour", (format,), source=source, snapshot=False, redelivered=True)
        members, renewed = dict[str, None](), set[str]()
        for event in found.events:
            for one, other in zip(*(event.messages[each] for each in found.formats), strict=True):
                pairs = zip((*one.address, *one.members), (*other.address, *other.members), strict=True)
                for (member, old), (_, new) in pairs:
                    members[member] = None
                    renewed |= {member} if old != new else set()
        assert renewed <= open_codec(name, find_source(source or find(name).source)).layout.redelivery.renewed.keys()
        cells = [[f"`{each}`" for each in members if (each in renewed) == is_new] for is_new in (True, False)]
        lines.append(f"| `{name}` | {' | '.join(', '.join(cell) or 'nothing' for cell in cells)} |")
    return "\n".join(lines) + "\n"


def test_the_page_of_faults_has_their_tables(request: pytest.FixtureRequest) -> None:
    page = ROOT / "scenarios" / "FAULTS.md"
    text = page.read_text("utf-8")
    tables = {"faults": report.table(), "rules": report.rules(RULES), "members": kept_and_renewed()}
    for name, table in tables.items():
        first, mark, rest = text.partition(f"<!-- {name} -->\n")
        text = first + mark + table + rest[rest.index("<!-- end -->") :]
    if request.config.getoption("--update-goldens"):
        page.write_text(text, encoding="utf-8")
    assert page.read_text("utf-8") == text, "run pytest tests/test_docs.py -k faults --update-goldens"


def test_the_site_has_the_pages_and_its_links_hold() -> None:
    """`mkdocs build --strict` takes nine seconds, and packages of its own: this is what it needs."""
    spec = importlib.util.spec_from_file_location("build_site", ROOT / ".github" / "site" / "build.py")
    assert spec is not None
    assert spec.loader is not None
    site = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(site)
    names = list(site.pages(site.navigation()))
    known = set(names)
    assert len(known) == len(names)
    linked = {target.removesuffix("/") for target in re.findall(r"\]\(([^)#:]+\.md)\)", README)}
    assert linked <= known
    assert {str(page.relative_to(ROOT)) for page in TUTORIALS} <= known
    for name in names:
        for target in re.findall(r"\]\((?!https?://|#)([^)#\s]+)", site.page_text(name, known)):
            path = (ROOT / name).parent.joinpath(target).resolve()
            picture = path.parent == ROOT / "pictures" and (site.PICTURES / path.name).exists()
            assert picture or path.relative_to(ROOT).as_posix() in known, (name, target)
            assert path.suffix == ".md" or picture, (name, target)


def test_the_page_of_proof_is_true(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--update-goldens"):
        proof.PAGE.write_text(proof.page(), encoding="utf-8")
    assert proof.problems(proof.PAGE.read_text("utf-8")) == [], (
        "run pytest tests/test_docs.py -k proof --update-goldens"
    )


def test_a_page_of_proof_that_is_not_true_is_told() -> None:
    """A count that is too high, a link that leads elsewhere, a row that is gone; a count that is lower is none."""
    page = proof.page()
    row = next(line for line in page.splitlines() if line.startswith("| Canal 1.1.8 |"))
    count = next(iter(proof.counted(row)))
    assert proof.problems(page.replace(row, row.replace(f" {count} ", f" {count - 1} "))) == []
    for wrong in (f" {count + 1:,} ", f" [{count}](elsewhere.py) "):
        assert proof.problems(page.replace(row, row.replace(f" {count} ", wrong)))
    assert len(proof.problems(page.replace(row + "\n", ""))) == 1
    with pytest.raises(ValueError, match=r"names run/test_resume\.py::test_nothing, which is not there"):
        proof.link("run/test_resume.py::test_nothing")
