"""Generators whose values people know: check digits, people, laws, gaps, nasty texts."""

from __future__ import annotations

import re
from collections import Counter
from statistics import NormalDist, mean, median
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from each import each
from random_scenarios import loaded

from simulator import sources
from simulator.batch import decoded
from simulator.errors import ScenarioError
from simulator.native import program
from simulator.stream.engine.stream import ChangeStream
from simulator.stream.generators.checked import iban
from simulator.stream.generators.drawn import walk
from simulator.stream.scenario.resolve import resolve
from simulator.values import check_digits
from simulator.values.hostile import hostile
from simulator.values.people import LANGUAGES, people

ID = {"type": "int64", "values": "sequence"}


def rows_of(columns: dict[str, Any], source: str = "mysql", turns: int = 400, **more: Any) -> list[dict[str, Any]]:
    """The rows of a table after some updates, in no order."""
    table = {"key": "id", "rows": 2000, "mix": {"update": 1}, "columns": {"id": ID, **columns}}
    stream = ChangeStream(resolve(loaded({"tables": {"t": table}, **more}), sources.find(source)))
    return [
        dict(zip((column.field for column in table.columns), row, strict=True))
        for table, arrays in stream.rows_at(stream.border(turns))
        for row in zip(*(decoded(array).to_pylist() for array in arrays), strict=True)
    ]


def texts_of(values: Any, **more: Any) -> list[str]:
    columns = {"n": {"type": "int32", "values": "version"}, "it": {"type": "string(200)", "values": values}}
    return [row["it"] for row in rows_of(columns, **more)]


# ------------------------------------------------------------------------------------------------------- check digits


def luhn(number: str) -> bool:
    digits = list(map(int, reversed(number)))
    return (sum(digits[::2]) + sum(sum(divmod(2 * digit, 10)) for digit in digits[1::2])) % 10 == 0


def ean(number: str) -> bool:
    return sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(reversed(number))) % 10 == 0


def is_iban(number: str) -> bool:
    return int("".join(str(int(character, 36)) for character in number[4:] + number[:4])) % 97 == 1


def test_the_rules_take_numbers_that_are_known() -> None:
    """Those that ISO 13616's registry, ISO/IEC 7812 and GS1 print as examples, and not their neighbours."""
    known = (
        "DE89370400440532013000",
        "AT611904300234573201",
        "ES9121000418450200051332",
        "FR1420041010050500013M02606",
    )
    assert all(map(is_iban, known))
    assert not is_iban("DE89370400440532013001")
    assert (luhn("4012888888881881"), luhn("4012888888881882")) == (True, False)
    assert (ean("4006381333931"), ean("4006381333932")) == (True, False)
    bank, account = ([list(map(int, digits))] for digits in ("21000418", "0200051332"))
    spanish = iban.spanish(np.array(bank), np.array(account))
    assert check_digits.texts(spanish).to_pylist() == ["21000418450200051332"]
    french = iban.french(np.array([list(map(int, "2004101005"))]), np.array([list(map(int, "05000132606"))]))
    assert int("".join(map(str, french[0]))) % 97 == 0


@each(
    [
        ({"iban": {"country": "AT"}}, is_iban, r"AT\d{18}"),
        ({"iban": {"country": "DE"}}, is_iban, r"DE\d{20}"),
        ({"iban": {"country": "ES"}}, is_iban, r"ES\d{22}"),
        ({"iban": {"country": "FR"}}, is_iban, r"FR\d{25}"),
        ("luhn", luhn, r"4\d{15}"),
        ({"luhn": {"prefix": "", "length": 19}}, luhn, r"\d{19}"),
        ("ean", ean, r"400\d{10}"),
        ({"ean": {"prefix": "4001234"}}, ean, r"4001234\d{6}"),
        ({"phone_number": {"country": "US"}}, None, r"\+1[2-9]\d\d55501\d\d"),
        ({"phone_number": {"country": "DE"}}, None, r"\+49\d{9,11}"),
        ({"phone_number": {"country": "ES"}}, None, r"\+346\d{8}"),
        ({"phone_number": {"country": "CN"}}, None, r"\+861[35789]\d{9}"),
    ]
)
def test_numbers_check(values: Any, checks: Any, shape: str) -> None:
    numbers = texts_of(values)
    assert all(re.fullmatch(shape, number) for number in numbers), numbers[:3]
    assert checks is None or all(map(checks, numbers))
    assert len({*numbers}) > 1000


# -------------------------------------------------------------------------------------------------------------- people


@pytest.mark.parametrize("language", LANGUAGES)
def test_people_differ_and_their_addresses_are_theirs(language: str) -> None:
    person = {"part": "name", "languages": {language: 1}}
    parts = {part: {"type": "string(200)", "changes": "no", "values": {"person": part}} for part in ("email", "login")}
    columns = {"name": {**parts["email"], "values": {"person": person}}, **parts, "n": {"type": "int32"}}
    rows = rows_of({**columns, "city": {"type": "string(60)", "values": {"person": "city"}}})
    assert len({row["name"] for row in rows}) > 0.9 * len(rows)
    assert len({row["email"] for row in rows}) == len({row["login"] for row in rows}) == len(rows)
    pool = people(language)
    plain = dict(zip((*pool.first, *pool.last), (*pool.first_plain, *pool.last_plain), strict=True))
    for row in rows:
        local, domain = row["email"].split("@")
        assert local.endswith(str(row["id"]))
        assert re.search(r"(^|\.)example\.(com|org|net)$", domain)
        words = row["name"].split(" ") if language != "zh" else [row["name"][:-2], row["name"][-2:]]
        if language == "zh":  # a family name of one or two characters, a given name of one or two
            splits = [(row["name"][:cut], row["name"][cut:]) for cut in (1, 2)]
            words = next([given, family] for family, given in splits if family in pool.last and given in pool.first)
        assert local.startswith(plain[words[0]])
        assert row["login"] == f"{plain[words[0]][0]}{plain[words[1]]}{row['id']}"
        assert row["city"] in pool.cities


def test_languages_come_by_weight() -> None:
    rows = rows_of(
        {"it": {"type": "string(90)", "values": {"person": {"part": "city", "languages": {"de": 3, "zh": 1}}}}}
    )
    chinese = sum(row["it"] in people("zh").cities for row in rows) / len(rows)
    assert chinese == pytest.approx(0.25, abs=0.04)


# ---------------------------------------------------------------------------------------------------------------- laws


def steps_of(arguments: dict[str, Any], rows: int = 400, settings: int = 64) -> np.ndarray[Any, Any]:
    """Values of some rows (first axis) at settings one after the other."""
    column = {"type": "decimal(10,2)", "values": {"walk": arguments}}
    table = {"key": "id", "rows": 10, "mix": {"update": 1}, "columns": {"id": ID, "it": column}}
    stream = ChangeStream(resolve(loaded({"tables": {"t": table}}), sources.find("mysql")))
    generator = stream.compiled.versions["t"][0].columns[1].generator

    class States:
        identity = hashed_identities(rows).repeat(settings)

        def changes(self, history: object) -> Any:
            return np.tile(np.arange(settings), rows)

    values = np.array([float(value) for value in decoded(generator.array(States())).to_pylist()])
    return values.reshape(rows, settings)


def hashed_identities(rows: int) -> Any:
    return np.arange(rows, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)


@each(
    [
        {"range": [5, 500], "step": "2.50"},
        {"range": [5, 500], "step": "2.50", "law": "normal"},
        {"range": [5, 500], "step": "2.50", "law": "heavy"},
        {"range": [5, 500], "step": "3%"},
        {"range": [5, 500], "step": "3%", "law": "heavy", "endings": ["0.99", "0.49"]},
        {"range": [5, 500], "step": "2", "endings": ["0.99"]},
        {"range": [-5, 5], "step": "0.02", "trend": "0.1"},
    ]
)
def test_walks(arguments: dict[str, Any]) -> None:
    """Inside of the range, never twice the same, by about a step, and with the endings; in both cores alike."""
    values = steps_of(arguments)
    low, high = map(float, arguments["range"])
    assert low <= values.min() < values.max() <= high
    moves = np.abs(np.diff(values, axis=1))
    assert (moves > 0).all()
    if arguments["step"].endswith("%"):
        assert 0.005 < np.median(moves / values[:, :-1]) < 0.06
    elif "trend" not in arguments:
        assert 0.1 < np.median(moves) / float(arguments["step"]) < 1.5
    else:
        assert np.median(np.diff(values, axis=1)) == pytest.approx(0.1, abs=0.02)
    if "endings" in arguments:
        ends = {round(float(end) * 100) for end in arguments["endings"]}
        assert set(np.unique(np.rint(values * 100) % 100)) <= ends


def test_heavy_steps_are_rarely_large() -> None:
    def largest(law: str) -> float:
        moves = np.abs(np.diff(steps_of({"range": [0, 90000], "step": "10", "law": law}), axis=1))
        return float(np.quantile(moves, 0.99) / np.median(moves))

    assert largest("even") < largest("normal") < largest("heavy")


def test_walks_are_the_same_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    if not program.compiled():
        pytest.skip("the library was not built")
    arguments = {"range": [5, 500], "step": "3%", "law": "heavy"}
    quick = steps_of(arguments)
    monkeypatch.setattr(walk, "compiled", lambda: False)
    assert (steps_of(arguments) == quick).all()


def test_amounts_are_lognormal() -> None:
    law = {"median": 40, "spread": 3, "range": [0.5, 20000]}
    amounts = [float(row["it"]) for row in rows_of({"it": {"type": "decimal(10,2)", "values": {"lognormal": law}}})]
    assert median(amounts) == pytest.approx(40, rel=0.12)
    assert mean(40 / 3 < amount < 120 for amount in amounts) == pytest.approx(
        NormalDist().cdf(1) - NormalDist().cdf(-1), abs=0.04
    )


# --------------------------------------------------------------------------------------------------- gaps and sentences


@each([0.01, 0.1, 0.5])
def test_gaps_of_sequences(share: float) -> None:
    """As many numbers are left out as asked for, in runs of one to three, in the rows and in what comes."""
    columns = {"id": {"type": "int64", "values": {"sequence": {"gaps": share}}}, "n": {"type": "int32"}}
    table = {"key": "id", "rows": 5000, "mix": {"insert": 1}, "columns": columns}
    stream = ChangeStream(resolve(loaded({"tables": {"t": table}}), sources.find("mysql")))
    numbers = [
        number for batch in stream.read(0, stream.border(20_000)).batches for number in batch.after[0].to_pylist()
    ]
    assert numbers == sorted({*numbers})
    lost = np.diff(numbers) - 1
    assert lost.sum() / (numbers[-1] - numbers[0]) == pytest.approx(share, rel=0.15)
    if share == 0.01:
        assert {*lost.tolist()} >= {0, 1, 2, 3}


def test_sentences() -> None:
    values = {"sentence": ["{Ring|Call} {twice|at noon}.", "No hurry."]}
    column = {"type": "string(40)", "changes": "no", "values": values}
    sentences = [row["it"] for row in rows_of({"n": {"type": "int32"}, "it": column})]
    counts = Counter(sentences)
    assert set(counts) == {f"{a} {b}." for a in ("Ring", "Call") for b in ("twice", "at noon")} | {"No hurry."}
    assert counts["No hurry."] / len(sentences) == pytest.approx(0.5, abs=0.05)  # each template is as likely


# --------------------------------------------------------------------------------------------------------------- nasty


@pytest.mark.parametrize("source", ["mysql", "oracle", "postgresql", "sqlserver", "mongodb"])
def test_hostile_texts(source: str) -> None:
    """A share of the rows has them, in texts that people type; keys, addresses and codes stay as they are."""
    columns = {
        "name": {"type": "string(40)", "values": {"person": "name"}},
        "email": {"type": "string(120)", "values": {"person": "email"}},
        "note": {"type": "string(200)", "values": {"sentence": "delivery"}},
        "code": {"type": "string(9)", "values": {"pattern": "??-###"}},
    }
    nice = {row["id"]: row for row in rows_of(columns, source)}
    rows = rows_of(columns, source, text={"hostile": 0.1})
    nasty = Counter(name for row in rows for name in row if row[name] != nice[row["id"]][name])
    assert set(nasty) == {"name", "note"}
    assert [nasty[name] / len(rows) for name in ("name", "note")] == pytest.approx([0.1, 0.1], abs=0.03)
    texts = {row["name"] for row in rows} - {row["name"] for row in nice.values()}
    assert texts <= {*hostile(40)}
    assert len(texts) > 30


@each(
    [
        (
            "string(20)",
            {"of": "t.n", "via": "n"},
            "of.via: n refers to no table: its values are default, not references.",
        ),
        ("string(20)", {"of": "t.n", "vai": "n"}, "vai: unknown key 'vai'."),
        ("int32", {"walk": {"range": [0, 9], "step": "3%"}}, "walk.step: a step of 3% needs a range above 0."),
        ("int32", {"walk": {"range": [1, 9], "step": "x%"}}, "walk.step: 'x%' is not a share such as 3%."),
        (
            "int32",
            {"walk": {"range": [1, 9], "step": 1, "endings": [1]}},
            "walk.endings: endings are from 0 up to less",
        ),
        ("int32", {"lognormal": {"median": 1, "spread": 2, "range": [5, 9]}}, "lognormal.median: '1' is not inside of"),
        ("string(9)", "iban", "iban: 22 characters do not fit into varchar(9)."),
        ("string(9)", {"sentence": "delivrey"}, "sentence[0]: no sentences 'delivrey'. Did you mean 'delivery'?"),
        ("string(9)", {"sentence": "{a|b"}, "sentence[0]: '{a|b' has a brace without its partner."),
        ("string(9)", {"person": "name"}, "person: 22 characters do not fit into varchar(9)."),
        ("string(99)", {"person": {"part": "name", "languages": {"fr": 1}}}, "person.languages.fr"),
        ("int64", {"sequence": {"gaps": 0.6}}, "sequence.gaps: "),
        (
            "int64",
            {"references": {"table": "t", "distinct_from": "n"}},
            "references.distinct_from: n is not a reference",
        ),
    ]
)
def test_mistakes(type: str, values: Any, sentence: str) -> None:
    columns = {"id": ID, "n": {"type": "int32"}, "it": {"type": type, "nullable": "yes", "values": values}}
    scenario = {"tables": {"t": {"key": "id", "rows": 9, "mix": {"update": 1}, "columns": columns}}}
    with pytest.raises(ScenarioError) as error:
        resolve(loaded(scenario), sources.find("mysql"))
    assert f"tables.t.columns.it.values.{sentence}" in str(error.value)


def test_the_empty_column_has_a_type() -> None:
    """No rows: the columns are there all the same."""
    assert check_digits.texts(np.zeros((0, 5), dtype=np.int64)).type == pa.string()
