"""Tables of a schema as the scenario language has them: keys, references, values, the mix of changes.

What the language cannot say is left out with a note.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final

from simulator.drafts import names
from simulator.drafts.fitting import LASTING, Fitting
from simulator.drafts.schema import Schema
from simulator.model import TableId
from simulator.sql.catalog.definitions import Definition, Field, ForeignKey, Key
from simulator.stream.generators.computed.sequence import NEVER_FULL

ROWS: Final = 1000
MOST_UNIQUE: Final = 16
_NAME: Final = re.compile(r"[^\s.`\x00-\x1f]([^.`\x00-\x1f]{0,62}[^\s.`\x00-\x1f])?")
_LOG: Final = re.compile(r"(^|_)(logs?|history|histories|events?|audits?|journal|ledger|clicks|migrations?)($|_)")
_NOW: Final = re.compile(
    r"\W*(now|(current|local)_?timestamp|(current|sys|local)_?date|systimestamp|(sys|get)(utc)?date(time)?(offset)?)\b",
    re.IGNORECASE,
)
_SERVED: Final = ("utf8mb4", "utf8mb3", "utf8", "binary", None)


@dataclass
class Draft:
    """A table: `columns`, `key`, `mix` … as the language has them; `notes` on the table, `said` on its columns."""

    definition: Definition
    columns: dict[str, dict[str, Any]] = field(default_factory=dict)
    key: list[str] = field(default_factory=list)
    unique: dict[str, list[str]] = field(default_factory=dict)
    rows: int = ROWS
    mix: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    said: dict[str, str] = field(default_factory=dict)
    permanent: bool = False  # others refer to its rows in columns that are not null
    roles: set[str] = field(default_factory=set)  # columns whose values follow from keys

    @property
    def name(self) -> str:
        return self.definition.id.name

    @property
    def changes(self) -> Iterator[dict[str, Any]]:
        """The columns that updates may set."""
        return (column for name, column in self.columns.items() if name not in self.key)

    @property
    def changes_but_links(self) -> Iterator[dict[str, Any]]:
        """Those of them that are no foreign keys, which other rows decide on."""
        links = {name.lower() for link in self.definition.foreign for name in link.columns}
        return (column for name, column in self.columns.items() if name not in self.key and name.lower() not in links)


def drafts(schema: Schema) -> tuple[list[Draft], list[str]]:
    """The tables, and what is to be said of those that are left out."""
    drafts_by_name: dict[str, Draft] = {}
    left_out: list[str] = []
    for definition in schema.tables:
        called = (definition.id.name, *(column.name for column in definition.fields))
        wrong = next((name for name in called if not _NAME.fullmatch(name)), None)
        if wrong is not None or definition.id.name.lower() in drafts_by_name:
            why = "another table has its name" if wrong is None else f"no scenario has the name {wrong!r}"
            left_out.append(f"{definition.id} is left out: {why}.")
        else:
            drafts_by_name[definition.id.name.lower()] = Draft(definition)
            drafts_by_name[definition.id.name.lower()].notes += schema.notes.get(definition.id, ())
    drafting = _Drafting(
        Fitting(schema.source, schema.portable),
        {draft.definition.id: draft for draft in drafts_by_name.values()},
        schema,
    )
    drafting.all()
    return list(drafts_by_name.values()), left_out


class _Drafting:
    def __init__(self, fitting: Fitting, tables: Mapping[TableId, Draft], schema: Schema) -> None:
        self.fitting, self.tables, self.rows, self.choices = fitting, tables, schema.rows, schema.choices
        self.facts = schema.columns

    def all(self) -> None:
        for draft in self.tables.values():
            for column in draft.definition.fields:
                self._column(draft, column)
        for draft in self.tables.values():
            self._key(draft)
        parents = {link.parent for draft in self.tables.values() for link in draft.definition.foreign}
        for id, draft in self.tables.items():
            self._values(draft)
            self._unique(draft)
            if not any(map(self.fitting.changes, draft.changes)):
                self._without_changes(draft, is_parent=id in parents)
        for draft in self.tables.values():
            for link in draft.definition.foreign:
                self._reference(draft, link)
        for draft in self.tables.values():
            self._defaults(draft)
            self._drop_keys_of_references(draft)
            self._life(draft)
        for (id, name), facts in self.facts.items():
            if id in self.tables and self.tables[id].columns[name].get("values") == "sequence":
                self._start(self.tables[id], name, facts.least or 0)

    # ---------------------------------------------------------------------------------------------------------- columns

    def _column(self, draft: Draft, definition_field: Field) -> None:
        text = self.fitting.type_text(definition_field.type)
        texts = self.fitting.source.family(definition_field.type) in ("text", "enum", "set")
        if texts and definition_field.type.charset not in _SERVED:
            text += f" character set {definition_field.type.charset}"
        column: dict[str, Any] = {"type": text}
        if not definition_field.nullable:
            column["nullable"] = "no"
        draft.columns[definition_field.name] = column
        if definition_field.generated is not None:
            draft.said[definition_field.name] = f"The server computes it: {definition_field.generated}."

    def _defaults(self, draft: Draft) -> None:
        """Every column gets values of its own."""
        left_out = [
            f"{column.name} ({column.default})"
            for column in draft.definition.fields
            if column.default not in (None, "NULL") and draft.columns[column.name].get("values") != "commit_time"
        ]
        if left_out:
            draft.notes.append(f"Defaults are left out: {', '.join(left_out)}.")

    def _values(self, draft: Draft) -> None:
        for definition_field in draft.definition.fields:
            if definition_field.name in draft.roles:
                continue
            column = draft.columns[definition_field.name]
            created = names.is_created(definition_field.name)
            facts = self.facts.get((draft.definition.id, definition_field.name))
            labels = self.choices.get((draft.definition.id, definition_field.name))
            candidates = names.candidates(
                draft.name, definition_field.name, self.fitting.holds(column["type"]), definition_field.type.labels
            )
            defaults_to_now = bool(_NOW.match(definition_field.default or "")) and self.fitting.holds(
                column["type"]
            ) in (
                "times",
                "dates",
            )
            created = created or (defaults_to_now and not names.is_updated(definition_field.name))
            if definition_field.on_update or defaults_to_now:
                candidates = iter([("commit_time", None)])
            elif definition_field.type.name == '"char"':  # a byte, which has no length
                candidates = iter(())
            elif facts and facts.values:
                candidates = chain([("choices", dict(facts.values))], candidates)
            elif labels and len(labels) > 1:
                candidates = chain([("choices", list(labels))], candidates)
            for kind, arguments in candidates:
                values = kind if arguments is None else {kind: arguments}
                if self.fitting.takes({**column, "values": values}):
                    column["values"] = values
                    if created and not definition_field.on_update:
                        column["changes"] = "no"
                    break
            if definition_field.nullable and column.get("values") not in ("commit_time", "version"):
                share = "0.9" if "delet" in definition_field.name.lower() else "0.1"
                column["nulls"] = share if facts is None else f"{facts.nulls:.4g}"
                if column["nulls"] == "0" or not self.fitting.takes(column):
                    del column["nulls"]

    # ------------------------------------------------------------------------------------------------------------- keys

    def _repeats_never(self, draft: Draft, name: str) -> str:
        """A generator that gives the column no value twice; "" if there is none."""
        column = {"type": draft.columns[name]["type"], "nullable": "no"}
        is_id = re.search(r"uuid|guid|(^|_)id$", names.words_of(name))
        kinds = ["sequence"]
        if self.fitting.holds(column["type"]) == "UUIDs":
            kinds = ["uuid"]
        elif self.fitting.holds(column["type"]) == "text" and (self.fitting.type(column["type"]).length or 99) >= 36:
            kinds = ["uuid", "sequence"] if is_id else ["sequence", "uuid"]
        return next((kind for kind in kinds if self.fitting.takes({**column, "values": kind})), "")

    def _key(self, draft: Draft) -> None:
        primary = draft.definition.primary
        if primary is None:
            return
        columns = [self._stored(draft, name) for name in primary.names]
        links = {self._stored(draft, link.columns[0]) for link in draft.definition.foreign if self._parent(link)}
        single = len(columns) == 1
        never_repeats = {name: self._repeats_never(draft, name) for name in columns if single or name not in links}
        never_repeats = {name: kind for name, kind in never_repeats.items() if kind}
        linked = [name for name in columns if name in links and not single]
        if (
            not never_repeats
            and linked == columns
            and self.fitting.numbers(draft.columns[linked[-1]]["type"]) >= LASTING
        ):
            never_repeats = {linked[-1]: self._repeats_never(draft, linked[-1])}
        if not any(never_repeats.values()):
            draft.notes.append(
                f"The key ({', '.join(columns)}) is left out: none of its columns can have values that never repeat."
            )
            return
        draft.key = [name for name in columns if name in never_repeats or name in linked]
        if len(draft.key) < len(columns):
            gone = ", ".join(name for name in columns if name not in draft.key)
            draft.notes.append(f"The key has {gone}, too, whose values may repeat; here it is left out.")
        for name, kind in never_repeats.items():
            draft.columns[name]["values"] = kind
            draft.roles.add(name)

    def _start(self, draft: Draft, name: str, least: int) -> None:
        """Keys begin at the table's least one, or at the greatest number that leaves enough for a long run."""
        column = draft.columns[name]
        start = min(least, min(self.fitting.numbers(column["type"]), NEVER_FULL) - LASTING - draft.rows)
        if start > 1:
            column["values"] = {"sequence": {"start": str(start)}}
            if start < least:
                draft.said[name] = f"The least is {least}; from there, numbers would soon be too large."

    def _stored(self, draft: Draft, name: str) -> str:
        return draft.definition.fields[draft.definition.position(name) or 0].name

    def _unique(self, draft: Draft) -> None:
        linked = {self._stored(draft, name) for link in draft.definition.foreign for name in link.columns}
        for key in draft.definition.keys:
            if key.kind != "unique":
                continue
            columns = [self._stored(draft, name) for name in key.names if name]
            plain_columns = all(name and length is None for name, length in key.columns)
            fits = plain_columns and len(draft.unique) < MOST_UNIQUE and _NAME.fullmatch(key.name)
            if fits and (set(columns) & draft.roles or self._made_unique(draft, columns, linked)):
                draft.unique[key.name] = columns
            else:
                self._left_out(draft, key, columns)

    def _left_out(self, draft: Draft, key: Key, columns: Sequence[str]) -> None:
        draft.notes.append(f"The unique key {key.name} ({', '.join(columns)}) is left out: its values may repeat here.")

    def _made_unique(self, draft: Draft, columns: Sequence[str], linked: set[str]) -> bool:
        """Give one of a unique key's columns values that never repeat."""
        free = [name for name in columns if name not in linked and name not in draft.key]
        for name in sorted(free, key=lambda name: self.fitting.holds(draft.columns[name]["type"]) != "text"):
            column = {key: value for key, value in draft.columns[name].items() if key in ("type", "nullable")}
            values = self._text_of_key(draft, name, column) or self._repeats_never(draft, name)
            if values:
                draft.columns[name] = {**column, "changes": "no", "values": values}
                draft.roles.add(name)
                return True
        return False

    def _text_of_key(self, draft: Draft, name: str, column: dict[str, Any]) -> dict[str, Any] | None:
        coded = re.search(r"uuid|guid|hash|token|code|number|sku|ean|serial", names.words_of(name))
        if self.fitting.holds(column["type"]) != "text" or len(draft.key) != 1 or coded:
            return None
        (key,) = draft.key
        person = names.of_person(name)
        if person is not None and draft.columns[key]["values"] == "sequence":
            values = dict([person])
            if self.fitting.takes({**column, "values": values}, {key: draft.columns[key]}):
                return values
        values = dict([names.unique_text(name, key)])
        room = self.fitting.type(column["type"]).length or 255
        digits = 36 if draft.columns[key]["values"] == "uuid" else 12
        if (
            not key.isidentifier()
            or keyword.iskeyword(key)
            or len(re.sub(r"\W", "", values["derived"])) + digits > room
        ):
            return None
        return values if self.fitting.takes({**column, "values": values}, {key: draft.columns[key]}) else None

    def _without_changes(self, draft: Draft, *, is_parent: bool) -> None:
        """Adapts a table in which no column certainly changes. If its rows must stay, one unique column may change;
        without such a column, keys lose the sequences that would soon be full."""
        stays = is_parent or any(map(self._is_short, draft.columns.values()))
        for name in sorted(draft.roles - set(draft.key)) if stays else ():
            column = draft.columns[name]
            if self.fitting.takes({**column, "values": "uuid"}):
                column["values"] = "uuid"
            if column["values"] == "uuid" or self.fitting.numbers(column["type"]) >= LASTING:
                column["values"] = column["values"] if isinstance(column["values"], str) else "sequence"
                column.pop("changes", None)
                return
        short = {name for name, column in draft.columns.items() if self._is_short(column)}
        if short:
            draft.key = [name for name in draft.key if name not in short]
            draft.unique = {key: columns for key, columns in draft.unique.items() if not short & set(columns)}
            draft.roles -= short
            for name in short:
                draft.columns[name] = {"type": draft.columns[name]["type"]}
            draft.notes.append(f"Keys with {', '.join(sorted(short))} are left out: their numbers would soon be full.")

    def _is_short(self, column: dict[str, Any]) -> bool:
        return column.get("values") == "sequence" and self.fitting.numbers(column["type"]) < LASTING

    # ------------------------------------------------------------------------------------------------------- references

    def _parent(self, link: ForeignKey) -> Draft | None:
        """The table that a foreign key of one column leads to."""
        return self.tables.get(link.parent) if len(link.columns) == 1 else None

    def _reference(self, draft: Draft, link: ForeignKey) -> None:
        name = self._stored(draft, link.columns[0])
        why = self._no_reference(draft, link, name)
        if why is not None:
            parent_text = f"{link.parent.name} ({', '.join(link.parent_columns)})"
            draft.notes.append(f"The foreign key ({', '.join(link.columns)}) to {parent_text} is left out: {why}.")
            return
        column = draft.columns[name]
        parent = self.tables[link.parent]
        if column.get("nullable") == "no":
            parent.permanent = True
        for key in ("nulls", "changes"):
            column.pop(key, None)
        if column.get("nullable") != "no":
            column["nulls"] = "0.1"
        column["values"] = {"references": parent.name}
        for price in filter(names.is_price, parent.columns):
            self._price(draft, name, f"{parent.name}.{price}", parent.columns[price])

    def _price(self, draft: Draft, via: str, price: str, parent_price: dict[str, Any]) -> None:
        """A price in a table that refers to a product is the product's price of that time."""
        ddl, type = self.fitting.source.ddl, self.fitting.type
        for name, column in draft.columns.items():
            old, new = type(parent_price["type"]), type(column["type"])
            fits = ddl.type_name(old) == ddl.type_name(new) or ddl.widens(old, new)
            nulls = column.get("nullable") == "no" and "no" not in (draft.columns[via].get("nullable"),)
            nulls = nulls or (column.get("nullable") == "no" and parent_price.get("nullable") != "no")
            same = name.lower() in (price.partition(".")[2].lower(), "price", "unit_price", "price_each", "list_price")
            if same and names.is_price(name) and fits and not nulls and name not in draft.roles:
                column.pop("nulls", None)
                column["values"] = {"of": price, "via": via}
        draft.roles.discard(name)

    def _no_reference(self, draft: Draft, link: ForeignKey, name: str) -> str | None:
        """Why the column's values cannot be keys of the other table."""
        parent, column, fitting = self._parent(link), draft.columns[name], self.fitting
        if parent is None:
            return "it has several columns" if len(link.columns) > 1 else "there is no such table here"
        if name in draft.roles:
            return "the column's values must not repeat"
        if column.get("values") == {"references": parent.name}:
            return "it is there already"
        if [key.lower() for key in parent.key] != [link.parent_columns[0].lower()]:
            return "a reference leads to a key of one column"
        if parent is draft:
            return "a table cannot refer to itself here"
        others = [definition for other, definition in draft.columns.items() if other != name and other not in draft.key]
        if any(map(self._is_short, draft.columns.values())) and not any(map(fitting.changes, others)):
            return "the rows stay, and something of them must change"
        old, new = (fitting.type(definition["type"]) for definition in (parent.columns[parent.key[0]], column))
        ddl = fitting.source.ddl
        if ddl.type_name(old) != ddl.type_name(new) and not ddl.widens(old, new):
            return "the types differ"
        if column.get("nullable") == "no" and not any(map(fitting.changes, parent.changes_but_links)):
            return f"{parent.name} has no rows that stay, since nothing of them changes"
        return None

    def _drop_keys_of_references(self, draft: Draft) -> None:
        """A key that names references alone, or columns of the key that turned out to be none, goes."""
        for name in list(draft.key):
            if draft.columns[name].get("values") in ("sequence", "uuid") or "references" in str(draft.columns[name]):
                continue
            draft.key.remove(name)
            draft.notes.append(f"The key has {name}, too, whose values may repeat; here it is left out.")

    # ------------------------------------------------------------------------------------------------------------- life

    def _life(self, draft: Draft) -> None:
        """Sets the number of rows and their lifecycle."""
        numbered = (column["type"] for column in draft.columns.values() if column.get("values") == "sequence")
        fewest = min(map(self.fitting.numbers, numbered), default=LASTING)
        draft.rows = max(1, min(self.rows.get(draft.definition.id, ROWS), fewest, 1 << 40))
        updates = any(map(self.fitting.changes, draft.changes))
        if fewest < LASTING and updates:
            draft.mix = {"update": 100}
            draft.notes.append("Updates only: the keys of new rows would soon be too large for a column.")
        elif draft.permanent:
            draft.mix = {"insert": 10, "update": 90}
        elif _LOG.search(names.words_of(draft.name)):
            draft.mix = {"insert": 100}
        elif updates:
            draft.mix = {"insert": 20, "update": 65, "delete": 15}
        else:
            draft.mix = {"insert": 60, "delete": 40}
