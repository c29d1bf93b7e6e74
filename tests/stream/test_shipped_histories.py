"""What a shopkeeper or a banker would count in the shipped scenarios, from messages alone, decoded one by one."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from statistics import median
from typing import NamedTuple

import pytest

import simulator
from simulator.values.people import plain

Row = dict[str, str | None]


class Change(NamedTuple):
    """A row of a Canal JSON message: its kind, `INIT` of a snapshot, the row after it, what changed, and when (ms)."""

    table: str
    kind: str
    row: Row
    old: Row
    ms: int


def changes(scenario: str, limit: int) -> Iterator[Change]:
    """The rows that are there, then so many changes."""
    sink = simulator.MemorySink()
    simulator.publish(scenario, "dts-canal-json", sink, limit=limit, snapshot=True)
    for value in (value for batch in sink.batches for value in batch["value"].to_pylist()):
        message = json.loads(value)
        if message.get("isDdl") or not message.get("data"):
            continue
        olds = message.get("old") or [{}] * len(message["data"])
        for row, old in zip(message["data"], olds, strict=True):
            changed = {name: value for name, value in (old or {}).items() if row.get(name) != value}
            yield Change(message["table"], message["type"], row, changed, message["es"])


def at(text: str | None) -> float:
    assert text is not None
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def missing(numbers: list[int]) -> float:
    """The share of the numbers between the first and the last that are not there."""
    return 1 - len({*numbers}) / (max(numbers) - min(numbers) + 1)


def test_orders() -> None:
    prices: dict[str, str] = {}
    items: defaultdict[str, list[Row]] = defaultdict(list)
    ledger: Counter[tuple[str, str]] = Counter()
    sold: Counter[tuple[str, str]] = Counter()
    new_ids: defaultdict[str, list[int]] = defaultdict(list)
    names, updates, ages, comments = set(), Counter[str](), [], set()
    lines = customers = 0
    for table, kind, row, old, ms in changes("orders", 40_000):
        is_new = kind == "INSERT"
        assert not (kind == "DELETE" and table in ("payments", "stock_ledger", "receipts"))
        if is_new and row.get("id"):
            new_ids[table].append(int(row["id"] or 0))
        if table == "products":
            assert "stock" not in row
            prices[row["id"] or ""] = row["price"] or ""
        if table == "order_items" and is_new:
            lines += 1
            assert row["price"] == prices[row["product_id"] or ""]  # of that moment
            items[row["order_id"] or ""].append(row)
            sold[row["product_id"] or "", row["quantity"] or ""] += 1
        if table == "stock_ledger" and is_new:
            ledger[row["product_id"] or "", row["quantity"] or ""] += 1
        if table == "orders" and kind == "UPDATE" and "total" in old:
            total = sum(Decimal(item["quantity"] or 0) * Decimal(item["price"] or 0) for item in items[row["id"] or ""])
            assert Decimal(row["total"] or 0) == total
        if table == "orders":
            comments.add(row["comment"])
        if table == "orders" and kind == "DELETE":
            ages.append(ms / 1000 - at(row["placed_at"]))
        if table == "customers":
            customers += kind != "UPDATE"
            names.add(row["name"])
            local, _, domain = (row["email"] or "").partition("@")
            assert local.endswith(row["id"] or "")
            assert "example." in domain
            first, *last = map(plain, (row["name"] or "").split())
            if last:  # Chinese names are one word: test_believable.py has their pinyin
                assert re.fullmatch(rf"{first}[._]?{last[0]}{row['id']}", local)
            if kind == "UPDATE":
                updates["all"] += 1
                updates["name"] += "name" in old
                assert ("name" in old) <= ("email" in old)
    assert lines > 5000
    assert ledger == sold  # the ledger says what was sold, and nothing else
    assert 0 < updates["name"] / updates["all"] < 0.03
    assert len(names) > 0.95 * customers
    assert median(ages) > 24 * 3600
    for table in ("orders", "payments", "stock_ledger"):
        assert missing(new_ids[table]) == pytest.approx(0.01, abs=0.004), table
    typed = re.compile(r"[A-Za-z0-9 ,.'-]+")
    assert all(comment is None or typed.fullmatch(comment) for comment in comments)
    assert len(comments) > 20


def is_iban(text: str) -> bool:
    return int("".join(str(int(character, 36)) for character in text[4:] + text[:4])) % 97 == 1


def is_card(text: str) -> bool:
    digits = list(map(int, reversed(text)))
    return (sum(digits[::2]) + sum(sum(divmod(2 * digit, 10)) for digit in digits[1::2])) % 10 == 0


def test_bank() -> None:
    entries: defaultdict[str, list[Row]] = defaultdict(list)
    salaries: defaultdict[str, Decimal] = defaultdict(Decimal)
    paid: Counter[str] = Counter()
    amounts = []
    for table, kind, row, old, ms in changes("bank", 55_000):
        assert not (kind == "DELETE" and table in ("transfers", "entries", "payrolls", "salaries"))
        if table == "accounts":
            assert is_iban(row["iban"] or "")
        if table == "cards":
            assert is_card(row["number"] or "")
        if table == "entries" and kind == "INSERT":
            entries[row["transfer_id"] or ""].append(row)
        if table == "transfers" and kind == "INSERT":
            amounts.append(float(row["amount"] or 0))
        if table == "salaries":
            salaries[row["payroll_id"] or ""] += Decimal(row["amount"] or 0)
        if table == "payrolls" and "total" in old:
            assert Decimal(row["total"] or 0) == salaries[row["id"] or ""]
            paid[datetime.fromtimestamp(ms / 1000, UTC).strftime("%d %H")] += 1
    assert len(entries) > 5000
    for pair in entries.values():  # double entry, and never from an account to itself
        assert sum(Decimal(row["amount"] or 0) for row in pair) == 0
        assert len({row["account_id"] for row in pair}) == len(pair) == 2
    assert sum(paid[hour] for hour in ("30 06", "30 07", "30 08")) > 0.9 * paid.total() > 20  # the salary day
    assert median(amounts) == pytest.approx(45, rel=0.1)
    assert sum(amount > 1000 for amount in amounts) < 0.02 * len(amounts)


def test_flash_sale() -> None:
    """A unit is sold once until it is delivered again, and a cancellation gives it back."""
    units: dict[str, Row] = {}
    prices: dict[str, str | None] = {}
    open_orders: dict[str, str] = {}
    counts: Counter[str] = Counter()
    by_second: Counter[int] = Counter()
    for table, kind, row, old, ms in changes("flash-sale", 30_000):
        identity = row.get("id") or ""
        if kind != "INIT":
            by_second[ms // 1000] += 1
        if table == "products":
            prices[identity] = row["price"]
        if table == "units":
            if "state" in old:
                moved = f"{old['state']}-{row['state']}"
                counts[moved] += 1
                assert moved in ("FREE-HELD", "HELD-SOLD", "HELD-FREE", "SOLD-FREE")
            if kind == "UPDATE" and row["state"] == "HELD":
                assert row["price"] == prices[row["product_id"] or ""]
            units[identity] = row
        if table == "orders" and kind == "INSERT":
            unit = row["unit_id"] or ""
            assert units[unit]["state"] == "HELD"
            assert unit not in open_orders  # nobody else holds it
            assert row["price"] == units[unit]["price"]
            open_orders[unit] = identity
        if table == "orders" and row["status"] in ("SHIPPED", "CANCELED"):
            open_orders.pop(row["unit_id"] or "", None)
    assert min(counts.values()) > 200
    ten = int(datetime(2024, 5, 3, 10, tzinfo=UTC).timestamp())
    before, after = (sum(by_second[ten + second] for second in span) for span in (range(-25, 0), range(25)))
    assert after > 15 * before
