"""Stored shapes of SQL Server come back as the text that they were made of."""

from __future__ import annotations

import pytest

from simulator.sources.sqlserver import clr as sqlserver_clr
from simulator.sources.sqlserver import shapes as sqlserver_shapes


@pytest.mark.parametrize("kind", ["geometry", "geography"])
@pytest.mark.parametrize(
    "text",
    [
        "POINT(1 2)",
        "LINESTRING(0 0,1 1)",
        "LINESTRING(0 0,1 1,2 2)",
        "POLYGON((0 0,10 0,10 10,0 10,0 0),(5 5,5 7,7 7,7 5,5 5))",
        "MULTIPOINT((0 0),(1 1))",
        "MULTILINESTRING((0 0,1 1),(2 2,3 3))",
        "MULTIPOLYGON(((0 0,1 0,1 1,0 0)),((5 5,6 5,6 6,5 5)))",
        "GEOMETRYCOLLECTION(POINT(1 2),LINESTRING(0 0,1 1))",
        "GEOMETRYCOLLECTION(POLYGON((0 0,1 0,1 1,0 0)),GEOMETRYCOLLECTION(POINT(7 8)),POINT(3 4.5))",
        "GEOMETRYCOLLECTION EMPTY",
    ],
)
def test_shapes_come_back(text: str, kind: str) -> None:
    stored = sqlserver_clr.shape(f"SRID=4326;{text}", kind)
    assert sqlserver_shapes.well_known(stored, kind) == (4326, text)
