"""Checks of the keys that set how often rows change: `hot`, `zipf` and `surges`."""

from __future__ import annotations

from simulator.stream.scenario.language.tables import LifecycleSpec, TableSpec
from simulator.stream.scenario.lines import Key
from simulator.stream.scenario.loader import Loaded
from simulator.stream.scenario.tables import unknown


def check_hot(loaded: Loaded, path: Key, spec: TableSpec | LifecycleSpec) -> None:
    """Raises ScenarioError for hot shares that make up all rows, contradict `zipf`, or cannot move."""
    total = sum(share.share for share in spec.hot)
    if total >= 1:
        loaded.fail((*path, "hot"), f"the hot shares add up to {total:g}; keep the sum below 1")
    if spec.hot and spec.zipf:
        loaded.fail((*path, "zipf"), "use either hot or zipf")
    if spec.moves and (len(spec.hot) > 1 or total > 0.5):
        loaded.fail((*path, "hot"), "only one hot share can move, of half of the rows at the most")


def check_surges(loaded: Loaded) -> None:
    """Raises ScenarioError for a surge of an unknown table or lifecycle, of rows that cannot change more often, or
    without effect.
    """
    spec = loaded.spec
    changing: dict[str, TableSpec | LifecycleSpec] = {n: t for n, t in spec.tables.items() if t.rows is not None}
    changing |= spec.lifecycles
    for s, surge in enumerate(spec.surges):
        path: Key = ("surges", s)
        if surge.of not in changing:
            unknown(loaded, (*path, "of"), "table with rows, or lifecycle,", surge.of, changing)
        table = changing[surge.of]
        if surge.share is None and len(changing) == 1:
            loaded.fail(path, f"nothing but {surge.of} changes, so this has no effect; write a share of its rows")
        stays = table.repeats if isinstance(table, LifecycleSpec) else not table.mix.delete
        if surge.share is not None and not stays:
            hint = "add `then: repeat`" if isinstance(table, LifecycleSpec) else "set `mix` to no deletes"
            loaded.fail((*path, "share"), f"rows must stay to be hot: {hint}, or leave the share out")
        if surge.share is not None and table.moves:
            loaded.fail((*path, "share"), f"the hot rows of {surge.of} move; leave the share out")
        if not surge.lasts[1]:
            loaded.fail((*path, "lasts"), "a surge lasts at least one turn")
