"""Random SQL scripts: tables over all MySQL types, and statements that may well be refused."""

from __future__ import annotations

from typing import Final

from hypothesis import strategies as st

TYPES: Final = (
    "tinyint", "tinyint unsigned", "tinyint(1)", "bool", "smallint", "smallint unsigned", "mediumint",
    "mediumint unsigned", "int", "int unsigned", "int(5) zerofill", "bigint", "bigint unsigned", "decimal(5,2)",
    "decimal(10,0) unsigned", "decimal(65,30)", "float", "float(7,2)", "double", "double unsigned", "bit", "bit(10)",
    "bit(64)", "date", "datetime", "datetime(3)", "timestamp null", "timestamp(6) null", "time", "time(2)", "year",
    "char(5)", "varchar(8)", "varchar(5) character set latin1", "varchar(6) character set utf8",
    "varchar(9) collate utf8mb4_bin", "binary(4)", "varbinary(6)", "tinytext", "text", "mediumtext", "longtext",
    "text(30)", "tinyblob", "blob", "mediumblob", "longblob", "enum('a','b','c,d')", "set('x','y','z')", "json",
    "geometry", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon",
    "geometrycollection",
)  # fmt: skip
VALUES: Final = (
    "0", "1", "-1", "127", "128", "255", "65535", "99999", "2147483648", "18446744073709551615",
    "-9223372036854775808", "99999999999999999999", "1.5", "-2.5", "0.005", "1e3", "1e40", "-1e-5", "-0e0", "''", "'a'",
    "'B'", "'abc'", "'12'", "'12abc'", "'héé'", "'中文'", "'😀'", "'x,z'", "'c,d'", "'2024-02-29'", "'2024-02-30'",
    "'2024-1-5 3:4:5'", "20240229", "'2024-02-29 23:59:59.9999999'", "'0000-00-00'", "'2020-00-01'", "'12:34:56.789'",
    "'-838:59:59'", "'900:00:00'", "null", "null", "default", "x'41'", "x'ff00'", "b'101'", "true", "1999",
    '\'{"b":1,"a":[1.50,null]}\'', "'[1, 2]'", "json_object('k', 1.50, 'd', cast('2024-01-01' as date))",
    "'long long long text'", "'a   '", "now(3)", "concat('a', 1)", "1/3", "7 div 2", "1/0", "repeat('z', 7)",
    "cast('2.50' as decimal(4,2))", "st_geomfromtext('POINT(1 2)')", "st_geomfromtext('LINESTRING(0 0,1 1)', 4326)",
    "uuid()", "'1' + 'x'", "id + 1", "nosuch", "nosuch(1)", "(select max(id) from t1)", "case when 1 then 2 end",
    "1e400", "'1e400'", "pow(10, 400)", "1" + "0" * 70, "cast(1e308 as decimal(9,2))", "truncate(1.5, 999)",
    "1e308 * 10", "date_add('9999-12-31', interval 99999999 quarter)", "9" * 5000, "repeat('a', 99999999999)",
    "'it''s \\\\ \"q\"'", "hex('a')", "if(1 > 0, 'y', 'n')", "round(2.5)", "date_add('2024-01-31', interval 1 month)",
)  # fmt: skip
ids = st.integers(1, 6)
types = st.sampled_from(TYPES)
values = st.sampled_from(VALUES)


@st.composite
def scripts(draw: st.DrawFn) -> str:
    """A script of two tables and up to twenty statements."""
    lines = ["create database d;", "use d;"]
    if draw(st.booleans()):
        lines.append("set sql_mode='';")
    columns: dict[str, list[str]] = {}
    for table in ("t1", "t2"):
        count = draw(st.integers(1, 4))
        names = [f"c{i}" for i in range(count)]
        key = draw(st.sampled_from((
            "id int primary key", "id int auto_increment primary key", "id int", "id int, unique key u(id)",
            "id bigint unsigned not null unique",
        )))  # fmt: skip
        defined = []
        for name in names:
            text = f"{name} {draw(types)}"
            if draw(st.integers(0, 4)) == 0 and "null" not in text:
                text += " not null"
            defined.append(text)
        if draw(st.integers(0, 3)) == 0:
            defined.append("g int as (id * 2)")
        lines.append(f"create table {table}({key}, {', '.join(defined)});")
        columns[table] = names
    for number in range(draw(st.integers(3, 20))):
        table = draw(st.sampled_from(("t1", "t2")))
        names = columns[table]
        column = draw(st.sampled_from(names))
        kind = draw(st.integers(0, 19))
        where = draw(st.sampled_from((
            "", " where id=1", " where id in (2,3) or id is null", f" where {column} is null", f" where {column}='a'",
            f" where {column} between 0 and 200", f" where not {column} like 'a%'", " order by id desc limit 2",
        )))  # fmt: skip
        if kind < 9:
            rows = [f"({draw(ids)},{','.join(draw(values) for _ in names)})" for _ in range(draw(st.integers(1, 3)))]
            verb = draw(st.sampled_from(("insert into", "insert into", "insert ignore into", "replace into")))
            tail = f" on duplicate key update {column}={draw(values)}" if verb == "insert into" and kind == 0 else ""
            lines.append(f"{verb} {table}(id,{','.join(names)}) values {','.join(rows)}{tail};")
        elif kind < 13:
            lines.append(f"update {table} set {column}={draw(values)}{where};")
        elif kind < 15:
            lines.append(f"delete from {table}{where};")
        elif kind == 15:
            other = "t2" if table == "t1" else "t1"
            lines.append(f"insert into {table}(id,{column}) select id,{columns[other][0]} from {other}{' where id<4'};")
        elif kind == 16:
            lines.append(draw(st.sampled_from(("begin;", "commit;", "rollback;", "savepoint s;", "rollback to s;"))))
        elif kind == 17:
            lines.append(f"alter table {table} add column n{number} {draw(types)};")
            names.append(f"n{number}")
        elif kind == 18 and len(names) > 1:
            lines.append(f"alter table {table} drop column {column};")
            names.remove(column)
        else:
            lines.append(draw(st.sampled_from((
                f"truncate table {table};", "-- @heartbeat", "set time_zone='+08:00';", "handler t1 open;",
                f"create index i{number} on {table}(id);", f"alter table {table} add unique u{number}(id);",
                "set session binlog_row_image=full;", f"alter table {table} comment='x';",
            ))))  # fmt: skip
    lines.append("commit;")
    return "\n".join(lines) + "\n"
