"""What can go wrong in a script: the database's own errors, by number, and statements that are not supported."""

from __future__ import annotations

from typing import Final

# Number: SQLSTATE and text. Source: share/errmsg-utf8.txt of MySQL 5.7 and 8.0 (mysqld_error.h); the texts that differ
# between servers are in DIFFERENT.
TEXTS: Final = {
    1007: ("HY000", "Can't create database '{}'; database exists"),
    1008: ("HY000", "Can't drop database '{}'; database doesn't exist"),
    1046: ("3D000", "No database selected"),
    1048: ("23000", "Column '{}' cannot be null"),
    1049: ("42000", "Unknown database '{}'"),
    1050: ("42S01", "Table '{}' already exists"),
    1051: ("42S02", "Unknown table '{}'"),
    1052: ("23000", "Column '{}' in {} is ambiguous"),
    1054: ("42S22", "Unknown column '{}' in '{}'"),
    1060: ("42S21", "Duplicate column name '{}'"),
    1061: ("42000", "Duplicate key name '{}'"),
    1062: ("23000", "Duplicate entry '{}' for key '{}'"),
    1063: ("42000", "Incorrect column specifier for column '{}'"),
    1064: ("42000", "You have an error in your SQL syntax; check the manual near '{}'"),
    1067: ("42000", "Invalid default value for '{}'"),
    1068: ("42000", "Multiple primary key defined"),
    1072: ("42000", "Key column '{}' doesn't exist in table"),
    1075: ("42000", "Incorrect table definition; there can be only one auto column and it must be defined as a key"),
    1090: ("42000", "You can't delete all columns with ALTER TABLE; use DROP TABLE instead"),
    1091: ("42000", "Can't DROP '{}'; check that column/key exists"),
    1101: ("42000", "BLOB, TEXT, GEOMETRY or JSON column '{}' can't have a default value"),
    1110: ("42000", "Column '{}' specified twice"),
    1113: ("42000", "A table must have at least 1 column"),
    1115: ("42000", "Unknown character set: '{}'"),
    1136: ("21S01", "Column count doesn't match value count at row {}"),
    1146: ("42S02", "Table '{}' doesn't exist"),
    1176: ("42000", "Key '{}' doesn't exist in table '{}'"),
    1193: ("HY000", "Unknown system variable '{}'"),
    1222: ("21000", "The used SELECT statements have a different number of columns"),
    1231: ("42000", "Variable '{}' can't be set to the value of '{}'"),
    1242: ("21000", "Subquery returns more than 1 row"),
    1264: ("22003", "Out of range value for column '{}' at row {}"),
    1265: ("01000", "Data truncated for column '{}' at row {}"),
    1273: ("HY000", "Unknown collation: '{}'"),
    1292: ("22007", "Incorrect {} value: '{}' for column '{}' at row {}"),
    12920: ("22007", "Truncated incorrect {} value: '{}'"),
    1298: ("HY000", "Unknown or incorrect time zone: '{}'"),
    1305: ("42000", "SAVEPOINT {} does not exist"),
    1364: ("HY000", "Field '{}' doesn't have a default value"),
    1365: ("22012", "Division by 0"),
    1366: ("HY000", "Incorrect {} value: '{}' for column '{}' at row {}"),
    1406: ("22001", "Data too long for column '{}' at row {}"),
    1411: ("HY000", "Incorrect {} value: '{}' for function {}"),
    1416: ("22003", "Cannot get geometry object from data you send to the GEOMETRY field"),
    1442: ("HY000", "Can't update table '{}' in stored function/trigger because it is already used by this statement"),
    1451: ("23000", "Cannot delete or update a parent row: a foreign key constraint fails ({})"),
    1452: ("23000", "Cannot add or update a child row: a foreign key constraint fails ({})"),
    1690: ("22003", "{} value is out of range in '{}'"),
    3037: ("22023", "Invalid GIS data provided to function {}."),
    3105: ("HY000", "The value specified for generated column '{}' in table '{}' is not allowed."),
    3140: ("22032", "Invalid JSON text: {} for column '{}'."),
    3141: ("22032", "Invalid JSON text in argument {} to function {}: {}"),
    3144: ("22032", "Cannot create a JSON value from a string with CHARACTER SET '{}'."),
    3143: ("42000", "Invalid JSON path expression."),
    3730: ("HY000", "Cannot drop table '{}' referenced by a foreign key constraint '{}' on table '{}'."),
    3819: ("HY000", "Check constraint '{}' is violated."),
    1396: ("HY000", "Operation {} failed for {}"),
    1360: ("HY000", "Trigger does not exist"),
    1359: ("HY000", "Trigger already exists"),
    1397: ("XAE04", "XAER_NOTA: Unknown XID"),
    1399: ("XAE07", "XAER_RMFAIL: The command cannot be executed when global transaction is in the  {} state"),
}


class SqlError(Exception):
    """An error of the database: `ERROR 1062 (23000): Duplicate entry '1' for key 'PRIMARY'`."""

    def __init__(self, number: int, *facts: object) -> None:
        state, text = TEXTS[number]
        # a second text of a number stands under ten times it
        self.number = number if number < 10_000 else number // 10
        self.state, self.text = state, text.format(*facts)
        super().__init__(f"ERROR {self.number} ({state}): {self.text}")


class Unsupported(Exception):
    """A statement, or a part of one, that the evaluator does not know: a phrase that says what."""
