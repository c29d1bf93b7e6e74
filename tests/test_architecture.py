"""Which module may import which, where third-party packages live, and that the core names no vendor: read with ast."""

from __future__ import annotations

import ast
import dataclasses
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Final

import pytest

# One process reads all files.
pytestmark = pytest.mark.xdist_group("architecture")

ROOT: Final = Path(__file__).parent.parent / "simulator"

# Top may import below; side by side may not import each other. A package stands for all its modules.
LAYERS: Final = (
    "__main__",
    "cli | pytest_plugin",
    "compare | hunting | packs",
    "library | spark",
    "options",
    "truth",
    "run | drafts",
    "sql",
    "stream",
    "formats | sinks",
    "delivery | subjects",
    "sources | wire",
    "text",
    "values",
    "registry | output",
    "split",
    "batch",
    "native",
    "partial_dates",
    "carriers",
    "tables",
    "order",
    "model",
    "fetching",
    "errors",
)
RANK: Final = {name: rank for rank, layer in enumerate(LAYERS) for name in layer.split(" | ")}

# Where a third-party package may be imported; "lazy": inside functions only, since it is an extra.
HOMES: Final = {
    "click": ("cli/*", "compare/terminal.py"),
    "confluent_kafka": ("sinks/kafka/*", "lazy"),
    "deltalake": ("truth/verify/tables/consumed.py", "lazy"),
    "duckdb": ("truth/verify/tables/consumed.py", "lazy"),
    "faker": ("values/pools.py", "lazy"),
    "hatchling": ("native/build.py",),
    "fastavro": ("wire/avro.py", "truth/decoders/*", "truth/verify/files.py", "lazy"),
    "numpy": ("*",),
    "orjson": ("*",),
    "pika": ("sinks/rabbitmq/*", "lazy"),
    "pyarrow": ("*",),
    "pydantic": ("stream/scenario/*", "stream/generators/*"),
    "pydantic_core": ("stream/scenario/*",),
    "psycopg": ("sql/server/postgresql/*", "truth/verify/tables/consumed.py", "lazy"),
    "pymysql": ("sql/server/mysql/*", "truth/verify/tables/consumed.py", "lazy"),
    "pyiceberg": ("truth/verify/tables/consumed.py", "lazy"),
    "pyspark": ("spark/*",),  # at the top of the data source alone: its classes are Spark's
    "pytest": ("pytest_plugin.py",),
    "rocketmq": ("sinks/rocketmq/library.py", "lazy"),
    "sqlglot": ("sql/*",),
    "yaml": ("stream/scenario/*", "hunting/case.py", "tables.py"),
}
# Loaded by `import simulator` and by commands that only look: of the standard library only.
PLAIN: Final = ("__init__", "__main__", "errors", "registry", "formats/__init__")

VENDORS: Final = re.compile(r"(?<![a-z])(dts|canal|oms|drs|cloudcanal|debezium)(?![a-z])", re.IGNORECASE)


@dataclass(frozen=True)
class Import:
    """An import statement's module, as a dotted name; `lazy`: inside a function."""

    file: str
    line: int
    module: str
    lazy: bool
    typing_only: bool

    def __str__(self) -> str:
        return f"simulator/{self.file}:{self.line} imports {self.module}"


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def files() -> list[Path]:
    return sorted(ROOT.rglob("*.py"))


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def imports(path: Path) -> Iterator[Import]:
    """All imports of a file; `from simulator.stream import generators` is the module simulator.stream.generators."""

    def inside(parent: ast.AST, lazy: bool, typing_only: bool) -> Iterator[Import]:
        for node in ast.iter_child_nodes(parent):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{path}:{node.lineno}: a relative import"
                whole = [f"{node.module}.{alias.name}" for alias in node.names]
                names = [name if module_exists(name) else str(node.module) for name in whole]
            for name in names:
                yield Import(name_of(path), node.lineno, name, lazy, typing_only)
            if isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case):
                function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
                guard = isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"
                yield from inside(node, lazy or function, typing_only or guard)

    return inside(parsed(path), lazy=False, typing_only=False)


def module_exists(name: str) -> bool:
    path = ROOT.joinpath(*name.split(".")[1:])
    return name.startswith("simulator.") and (path.is_dir() or path.with_suffix(".py").is_file())


@cache
def all_imports() -> tuple[Import, ...]:
    return tuple(found for path in files() for found in imports(path))


def part(dotted: str) -> str:
    """The part of the program that a module belongs to: `simulator.wire.fields` is of `wire`; the root itself is ""."""
    return [*dotted.split("."), ""][1]


def test_every_part_has_its_layer() -> None:
    parts = {name_of(path).removesuffix(".py").split("/")[0] for path in files()} - {"__init__"}
    assert parts == set(RANK), "a new part of the program wants its place in LAYERS"


def test_layers() -> None:
    wrong = []
    for found in all_imports():
        own = found.file.removesuffix(".py").split("/")[0]
        target = part(found.module)
        if own == "__init__" or not found.module.startswith("simulator.") or target == own:
            continue
        if RANK[target] <= RANK[own]:
            wrong.append(str(found))
    assert not wrong, "not below it:\n" + "\n".join(wrong)


def test_the_root_imports_nothing_but_for_types() -> None:
    mine = [found for found in all_imports() if found.file == "__init__.py" and found.module.startswith("simulator")]
    assert mine
    assert all(found.typing_only for found in mine)


def test_third_party_packages_stay_at_home() -> None:
    wrong = []
    for found in all_imports():
        package = found.module.split(".")[0]
        if package == "simulator" or package in sys.stdlib_module_names:
            continue
        homes = HOMES.get(package, ())
        at_home = any(fnmatch(found.file, home) for home in homes)
        late = found.lazy or found.typing_only or "lazy" not in homes
        if not (at_home and late):
            wrong.append(str(found))
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("module", PLAIN)
def test_what_only_looks_imports_the_standard_library(module: str) -> None:
    path = ROOT / f"{module}.py"
    wrong = [
        str(found)
        for found in imports(path)
        if not (found.lazy or found.typing_only)
        and found.module.split(".")[0] not in sys.stdlib_module_names
        and found.module not in ("simulator", "simulator.errors", "simulator.registry", "simulator.cli.commands")
    ]
    assert not wrong, "\n".join(wrong)


def code_words(path: Path) -> Iterator[tuple[int, str]]:
    """Names and strings of the code; comments and docstrings are not code."""
    tree = parsed(path)
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        for field in ("id", "attr", "name", "arg", "module", "value"):
            word = getattr(node, field, None)
            if isinstance(word, str) and id(node) not in docstrings:
                yield getattr(node, "lineno", 0), word


@pytest.mark.parametrize("folder", ["wire", "delivery"])
def test_the_core_names_no_vendor(folder: str) -> None:
    wrong = [
        f"simulator/{name_of(path)}:{line}: {word!r}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        for line, word in code_words(path)
        if VENDORS.search(word)
    ]
    assert not wrong, "\n".join(wrong)


SYSTEMS: Final = re.compile(
    r"(?<![a-z])(mysql|mariadb|oracle|postgres(ql)?|sqlserver|mongodb|oceanbase|gaussdb)(?![a-z])", re.IGNORECASE
)


@pytest.mark.parametrize("folder", ["delivery", "run", "sinks", "stream", "text/java", "values", "wire"])
def test_the_core_names_no_source(folder: str) -> None:
    """What differs between systems is a method of `Source`."""
    wrong = [
        f"simulator/{name_of(path)}:{line}: {word!r}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        for line, word in code_words(path)
        if SYSTEMS.search(word)
    ]
    assert not wrong, "\n".join(wrong)


def test_vendor_names_are_found() -> None:
    """The test above would see them."""
    words = ["canal_json", "FORMAT_DTS", "drs", "Canal"]
    assert all(VENDORS.search(word) for word in words)
    assert not any(VENDORS.search(word) for word in ["canals", "atoms", "customs", "words"])


def test_streams_know_no_format_and_formats_no_broker() -> None:
    wrong = [str(f) for f in all_imports() if f.file.startswith("stream/") and f.module.startswith("simulator.formats")]
    clients = {"confluent_kafka", "rocketmq", "pika", "pyspark"}
    wrong += [str(f) for f in all_imports() if f.file.startswith("formats/") and f.module.split(".")[0] in clients]
    assert not wrong, "\n".join(wrong)


# Who may call what a run is built of. `share_run` is that of a task, in a process of Spark.
BUILDERS: Final = {
    "simulator.run.pipeline": {"Run": ("run/session.py",)},
    "simulator.run.render": {"Renderer": ("run/job.py",)},
    "simulator.run.processes.workers": {"Workers": ("run/session.py",)},
    "simulator.run.report.account": {"Account": ("run/session.py",)},
    "simulator.run.resume": {"Resumed": ("run/session.py",)},
    "simulator.run.session": {
        "open_session": ("library.py", "cli/commands/run.py", "spark/examples/preload.py"),
        # runs that compare or count instead of sending
        "local_run": ("run/session.py", "truth/verify/verify.py", "truth/partitions.py"),
        "share_run": ("spark/brokers.py", "spark/files.py"),
    },
    "simulator.sinks": {
        # a task parses the URL where it runs; `open_sink` is for tests
        "parse_target": ("run/session.py", "library.py", "spark/brokers.py", "sinks/__init__.py"),
        "open_sink": (),
    },
}


def test_one_place_builds_a_run() -> None:
    """The command, the library and Spark ask `run/session.py` for it, so that each check stands there once."""
    wrong, called = [], set()
    for path in files():
        names = {
            alias.asname or alias.name: homes[alias.name]
            for node in ast.walk(parsed(path))
            if isinstance(node, ast.ImportFrom) and (homes := BUILDERS.get(str(node.module))) is not None
            for alias in node.names
            if alias.name in homes
        }
        if dotted(path) in BUILDERS:
            names |= BUILDERS[dotted(path)]
        for node in ast.walk(parsed(path)):
            if not isinstance(node, ast.Call):
                continue
            function = node.func.id if isinstance(node.func, ast.Name) else ""
            if function in names:
                called.add(function)
                if name_of(path) not in names[function]:
                    wrong.append(f"simulator/{name_of(path)}:{node.lineno} calls {function}")
            types = (
                {each.id for each in ast.walk(node) if isinstance(each, ast.Name)} if function == "isinstance" else ()
            )
            if {"Renderer", "Workers"} & set(types):
                wrong.append(f"simulator/{name_of(path)}:{node.lineno} asks who renders")
    assert not wrong, "\n".join(wrong)
    assert called == {name for homes in BUILDERS.values() for name, files in homes.items() if files}


# ------------------------------------------------------------------------------------------------------------- circles


def dotted(path: Path) -> str:
    return ".".join(("simulator", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")


def graph(*, whenever: bool = False) -> dict[str, set[str]]:
    """Each module and those that it imports when it is imported; `whenever`: or later, or only for its types."""
    names = {name_of(path): dotted(path) for path in files()}
    found: dict[str, set[str]] = {name: set() for name in names.values()}
    for each in all_imports():
        if (whenever or not (each.lazy or each.typing_only)) and each.module in found.keys() - {names[each.file]}:
            found[names[each.file]].add(each.module)
    return found


def test_no_module_imports_another_in_a_circle() -> None:
    left = graph(whenever=True)
    # A source is pickled as its name, by which the table finds it.
    left["simulator.sources.source"].remove("simulator.sources")
    while free := [name for name, below in left.items() if not below & left.keys()]:
        for name in free:
            del left[name]
    assert not left, f"in a circle, or above one: {sorted(left)}"


def test_a_server_runs_scripts_alone() -> None:
    """Its history is the server's: nothing below it executes a statement, whatever it imports on the way."""
    below = graph(whenever=True)
    modules = {name for name in below if name.startswith("simulator.sql.server")}
    reached = set(modules)
    while modules := {other for name in modules for other in below[name]} - reached:
        reached |= modules
    engine = {"ddl", "dml", "expressions", "functions", "programs", "queries", "statements"}
    assert "simulator.sql.parse.words" in reached
    wrong = {name for name in reached if name.startswith("simulator.sql.") and name.split(".")[2] in engine}
    assert not wrong, sorted(wrong)


# ------------------------------------------------------------------------------------------------------------ products

# A product's package imports another's only where the product itself builds on it.
BUILDS_ON: Final = {("dts", "canal"), ("cloudcanal", "dts")}


def test_products_keep_to_themselves() -> None:
    across = {
        (importer.split(".")[2], each.split(".")[2])
        for importer, below in graph().items()
        for each in below
        if importer.startswith("simulator.formats.") and importer.count(".") > 2
        if each.startswith("simulator.formats.") and each.count(".") > 2
    }
    assert {(one, other) for one, other in across if one != other} == BUILDS_ON


# OceanBase has two other systems' modes; SQL Server's shapes are read from the same well-known text as MySQL's.
SYSTEMS_ON: Final = {("oceanbase", "mysql"), ("oceanbase", "oracle"), ("sqlserver", "mysql")}


def test_systems_keep_to_themselves() -> None:
    across = {
        (importer.split(".")[2], each.split(".")[2])
        for importer, below in graph().items()
        for each in below
        if importer.startswith("simulator.sources.") and importer.count(".") > 2
        if each.startswith("simulator.sources.") and each.count(".") > 2
    }
    assert {(one, other) for one, other in across if one != other} == SYSTEMS_ON


def test_formats_have_no_branch_for_a_source() -> None:
    """A new source is a row of a product's table, not a branch in its functions."""
    from simulator.sources import SOURCES

    def compared(node: ast.AST) -> list[ast.expr]:
        if isinstance(node, ast.Compare):
            return [node.left, *node.comparators]
        if isinstance(node, ast.MatchValue):
            return [node.value]
        starts = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "startswith"
        return list(node.args) if starts and isinstance(node, ast.Call) else []

    known = {*SOURCES, *(f"{id}-{version}" for id, row in SOURCES.items() for version in row[2])}
    wrong = [
        f"simulator/{name_of(path)}:{part.lineno}: {part.value!r}"
        for path in sorted((ROOT / "formats").rglob("*.py"))
        for node in ast.walk(parsed(path))
        for each in compared(node)
        for part in ast.walk(each)
        if isinstance(part, ast.Constant) and part.value in known
    ]
    assert not wrong, "\n".join(wrong)


# ------------------------------------------------------------------------------------------------------------ contract

# What the rest of the program reads of a format, a codec and their parts, by the name that holds the object.
CONTRACT: Final = {
    "codec": {
        "check_route", "event_messages", "format", "heartbeat_ms", "layout", "messages", "sends", "sends_event",
    },
    "layout": {
        "container", "known", "packing", "properties", "redelivery", "remarks", "routing", "row_images", "steps",
        "subjects", "writer",
    },
    "packing": {"events", "packs", "reads_values", "window_turns"},
}  # fmt: skip
# Read by the codec alone.
OF_THE_CODEC: Final = {"heartbeat_ms", "omits", "sends", "statements"}
# Set by one product so far, though others could: AMQP's properties, and schemas with an id for each message.
OF_ONE_PRODUCT: Final = {"properties", "subjects"}


def read_outside_formats(owner: str) -> dict[str, str]:
    """The attributes that the program reads of a variable or an attribute of that name, each with a line that does."""
    return {
        node.attr: f"simulator/{name_of(path)}:{node.lineno}"
        for path in files()
        if not name_of(path).startswith("formats/")
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Attribute) and owner == getattr(node.value, "attr", getattr(node.value, "id", ""))
    }


@pytest.mark.parametrize("owner", CONTRACT)
def test_the_program_reads_no_option_of_one_format(owner: str) -> None:
    """What one product does is one of its steps, its packing, its writer or its remarks."""
    read = read_outside_formats(owner)
    assert read.keys() == CONTRACT[owner], {name: read.get(name) for name in read.keys() ^ CONTRACT[owner]}


def test_a_layout_has_what_several_products_have() -> None:
    """Nothing that one product alone sets, and nothing that nobody reads."""
    from simulator.formats.format import Layout

    parts = [field.name for field in dataclasses.fields(Layout)]
    set_by: dict[str, set[str]] = {part: set() for part in parts}
    for path in sorted((ROOT / "formats").glob("*/**/*.py")):
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("Layout", "replace"):
                given = [*parts[: len(node.args)], *(keyword.arg for keyword in node.keywords)]
                for name in set_by.keys() & given:
                    set_by[name].add(name_of(path).split("/")[1])
    assert set(parts) == CONTRACT["layout"] | OF_THE_CODEC
    assert {name for name, products in set_by.items() if len(products) < 2} == OF_ONE_PRODUCT


def test_attributes_of_formats_are_read_by_name() -> None:
    """Attributes hidden behind `getattr`, `vars` or `asdict` would escape the tests above."""
    wrong = [
        f"simulator/{name_of(path)}:{node.lineno}"
        for path in files()
        if not name_of(path).startswith("formats/")
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("getattr", "vars", "asdict")
        for argument in node.args[:1]
        if getattr(argument, "attr", getattr(argument, "id", "")) in (*CONTRACT, "format", "writer", "routing")
    ]
    assert not wrong, "\n".join(wrong)


def test_nothing_is_known_by_its_identity() -> None:
    """An id is given again when its object is gone."""
    wrong = [
        f"simulator/{name_of(path)}:{node.lineno}"
        for path in files()
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "id"
    ]
    assert not wrong, "\n".join(wrong)


# ------------------------------------------------------------------------------------------------------------- folders


def test_no_folder_is_a_heap() -> None:
    """Some fifteen modules a folder, and no prefix that does a folder's work."""
    for folder in {path.parent for path in files()}:
        names = [path.stem for path in folder.glob("*.py") if path.stem != "__init__"]
        assert len(names) <= 16, f"{name_of(folder)} has {len(names)} modules: a package is missing"
        prefixes = [name.partition("_")[0] for name in names if "_" in name]
        assert all(prefixes.count(prefix) <= 3 for prefix in prefixes), f"{name_of(folder)}: a prefix is a package"
