"""Sets up logical decoding of changes and DDL: a publication, a slot, and event triggers.

PostgreSQL does not log DDL. As in products, an event trigger writes each DDL statement into a table, whose rows are
logged between the other changes. Such a row also contains all current tables, and the rows of the tables that the
statement rewrote.
"""

from __future__ import annotations

from typing import Final

from simulator.sql.server.postgresql.connection import Connection

SCHEMA: Final = "cdcsim"
TABLE: Final = "ddl"
COLUMNS: Final = ("tag", "sql", "objects", "tables", "rewritten")
SLOT: Final = "cdcsim"

# The text form of values, in the log and in the trigger functions, independent of the script's session.
_PRINTING: Final = (
    "SET datestyle = 'ISO'",
    "SET timezone = 'UTC'",
    "SET intervalstyle = 'postgres'",
    "SET extra_float_digits = 1",
    "SET bytea_output = 'hex'",
)
_OUTPUT: Final = " ".join(("SET search_path = pg_catalog", *_PRINTING))
_TABLES: Final = """
SELECT coalesce(json_agg(row_to_json(t)), '[]') FROM (
  SELECT c.oid::bigint AS oid, n.nspname AS schema, c.relname AS name,
    (SELECT json_agg(json_build_object(
        'number', a.attnum, 'name', a.attname, 'not_null', a.attnotnull,
        'missing', (a.attmissingval::text::text[])[1],
        'default', (SELECT pg_get_expr(d.adbin, d.adrelid) FROM pg_attrdef d
            WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum),
        'type', CASE WHEN coalesce(b.typnamespace, t.typnamespace) = 'pg_catalog'::regnamespace
            THEN format_type(coalesce(b.oid, t.oid), CASE WHEN b.oid IS NULL THEN a.atttypmod ELSE t.typtypmod END)
            ELSE coalesce(b.typname, t.typname) END,
        'kind', coalesce(e.typtype, b.typtype, t.typtype),
        'labels', (SELECT json_agg(e.enumlabel ORDER BY e.enumsortorder) FROM pg_enum e
            WHERE e.enumtypid = coalesce(b.oid, t.oid))) ORDER BY a.attnum)
      FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid LEFT JOIN pg_type b ON b.oid = nullif(t.typbasetype, 0)
        LEFT JOIN pg_type e ON e.typarray = coalesce(b.oid, t.oid)
      WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '') AS columns,
    (SELECT json_agg(json_build_object('name', ic.relname, 'primary', i.indisprimary, 'columns',
        (SELECT json_agg(a.attname ORDER BY k.ordinal) FROM unnest(i.indkey) WITH ORDINALITY AS k(number, ordinal)
          JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.number WHERE k.ordinal <= i.indnkeyatts))
        ORDER BY i.indexrelid)
      FROM pg_index i JOIN pg_class ic ON ic.oid = i.indexrelid
      WHERE i.indrelid = c.oid AND i.indisunique AND i.indpred IS NULL AND i.indexprs IS NULL) AS keys
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'p') AND c.relpersistence = 'p' AND n.nspname !~ '^pg_'
    AND n.nspname NOT IN ('information_schema', 'cdcsim') ORDER BY c.oid) AS t"""
_SETUP: Final = f"""
CREATE SCHEMA {SCHEMA};
CREATE TABLE {SCHEMA}.{TABLE} ({" text, ".join(COLUMNS)} text);
CREATE FUNCTION {SCHEMA}.rewritten() RETURNS event_trigger LANGUAGE plpgsql {_OUTPUT} AS $$
BEGIN
  PERFORM set_config('cdcsim.rewritten', concat_ws(',', nullif(current_setting('cdcsim.rewritten', true), ''),
    pg_event_trigger_table_rewrite_oid()::text), true);
END $$;
CREATE FUNCTION {SCHEMA}.record() RETURNS event_trigger LANGUAGE plpgsql SECURITY DEFINER {_OUTPUT} AS $$
DECLARE
  table_oid oid; cells text; rows json; rewritten jsonb := '{{}}';
BEGIN
  IF NOT EXISTS (SELECT FROM pg_event_trigger_ddl_commands() WHERE NOT in_extension)
    AND EXISTS (SELECT FROM pg_event_trigger_ddl_commands()) THEN
    RETURN;  -- a statement of an extension's script
  END IF;
  FOREACH table_oid IN ARRAY string_to_array(coalesce(current_setting('cdcsim.rewritten', true), ''), ',')::oid[] LOOP
    SELECT string_agg(format('CASE WHEN %1$I IS NOT NULL THEN format(''%%s'', %1$I) END', attname), ', '
      ORDER BY attnum) INTO cells FROM pg_attribute
      WHERE attrelid = table_oid AND attnum > 0 AND NOT attisdropped AND attgenerated = '';
    EXECUTE format('SELECT json_agg(to_json(ARRAY[%s]::text[]) ORDER BY ctid) FROM ONLY %s', cells, table_oid::regclass)
      INTO rows;
    rewritten := rewritten || jsonb_build_object(table_oid::text, coalesce(rows, '[]'));
  END LOOP;
  PERFORM set_config('cdcsim.rewritten', '', true);
  INSERT INTO {SCHEMA}.{TABLE} SELECT tg_tag, current_query(),
    (SELECT coalesce(json_agg(DISTINCT coalesce(i.indrelid, c.objid)::bigint), '[]')
      FROM pg_event_trigger_ddl_commands() c LEFT JOIN pg_index i ON i.indexrelid = c.objid
      WHERE c.classid = 'pg_class'::regclass), ({_TABLES}), rewritten;
END $$;
CREATE EVENT TRIGGER cdcsim_rewritten ON table_rewrite EXECUTE FUNCTION {SCHEMA}.rewritten();
CREATE EVENT TRIGGER cdcsim_record ON ddl_command_end EXECUTE FUNCTION {SCHEMA}.record();
ALTER EVENT TRIGGER cdcsim_rewritten ENABLE ALWAYS;
ALTER EVENT TRIGGER cdcsim_record ENABLE ALWAYS;
CREATE PUBLICATION {SCHEMA} FOR ALL TABLES;
"""
_SETTINGS: Final = "; ".join((*_PRINTING, "SET client_min_messages = warning"))
_CHANGES: Final = (
    "SELECT (lsn - '0/0')::bigint, data FROM pg_logical_slot_get_binary_changes(%s, NULL, NULL, 'proto_version', '1', "
    "'publication_names', %s{})"
)
# Since version 14 the log's messages are read, too.
_MESSAGES: Final = (14_00_00, ", 'messages', 'true'")


class Decoding:
    """The changes of one database. Raises psycopg.Error."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        connection.run(_SETTINGS)
        connection.run(_SETUP)
        since, option = _MESSAGES
        self._changes = _CHANGES.format(option if connection.client.info.server_version >= since else "")
        self.slot = f"{SLOT}_{connection.client.info.backend_pid}"
        connection.value("SELECT lsn::text FROM pg_create_logical_replication_slot(%s, 'pgoutput')", self.slot)

    def changes(self) -> list[tuple[int, bytes]]:
        """Positions and messages of the transactions committed since the last call."""
        return self.connection.rows(self._changes, self.slot, SCHEMA)

    def end(self) -> int:
        """The end of the log."""
        return int(self.connection.value("SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint"))

    def close(self) -> None:
        try:
            self.connection.value("SELECT pg_drop_replication_slot(%s)::text", self.slot)
        finally:
            self.connection.close()
