"""What can go wrong in a script: the database's own errors, by number, and statements that are not supported."""

from __future__ import annotations

from typing import Final

SYNTAX: Final = (
    "You have an error in your SQL syntax; check the manual that corresponds to your {} server version for the right "
    "syntax to use near"
)
# Number: SQLSTATE and text. Source: share/errmsg-utf8.txt of MySQL 5.7 and 8.0 (mysqld_error.h); the texts that differ
# between servers are in DIFFERENT.
TEXTS: Final = {
    1005: ("HY000", 'Can\'t create table `{}`.`{}` (errno: {} "{}")'),
    1022: ("23000", "Can't write; duplicate key in table '{}'"),
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
    1064: ("42000", "You have an error in your SQL syntax near '{}'"),
    167: ("22003", "Out of range value for column '{}' at row {}"),
    1067: ("42000", "Invalid default value for '{}'"),
    1068: ("42000", "Multiple primary key defined"),
    1072: ("42000", "Key column '{}' doesn't exist in table"),
    1075: ("42000", "Incorrect table definition; there can be only one auto column and it must be defined as a key"),
    1074: ("42000", "Column length too big for column '{}' (max = {}); use BLOB or TEXT instead"),
    1090: ("42000", "You can't delete all columns with ALTER TABLE; use DROP TABLE instead"),
    1091: ("42000", "Can't DROP '{}'; check that column/key exists"),
    1093: ("HY000", "You can't specify target table '{}' for update in FROM clause"),
    1101: ("42000", "BLOB, TEXT, GEOMETRY or JSON column '{}' can't have a default value"),
    1110: ("42000", "Column '{}' specified twice"),
    1113: ("42000", "A table must have at least 1 column"),
    1115: ("42000", "Unknown character set: '{}'"),
    1138: ("22004", "Invalid use of NULL value"),
    1136: ("21S01", "Column count doesn't match value count at row {}"),
    1146: ("42S02", "Table '{}' doesn't exist"),
    1170: ("42000", "BLOB/TEXT column '{}' used in key specification without a key length"),
    1176: ("42000", "Key '{}' doesn't exist in table '{}'"),
    1193: ("HY000", "Unknown system variable '{}'"),
    1215: ("HY000", "Cannot add foreign key constraint"),
    1217: ("23000", "Cannot delete or update a parent row: a foreign key constraint fails"),
    14510: ("23000", "Cannot delete or update a parent row: a foreign key constraint fails"),
    1222: ("21000", "The used SELECT statements have a different number of columns"),
    1231: ("42000", "Variable '{}' can't be set to the value of '{}'"),
    1242: ("21000", "Subquery returns more than 1 row"),
    1253: ("42000", "COLLATION '{}' is not valid for CHARACTER SET '{}'"),
    1264: ("22003", "Out of range value for column '{}' at row {}"),
    1265: ("01000", "Data truncated for column '{}' at row {}"),
    1273: ("HY000", "Unknown collation: '{}'"),
    1292: ("22007", "Incorrect {} value: '{}' for column '{}' at row {}"),
    12920: ("22007", "Truncated incorrect {} value: '{}'"),
    1291: ("HY000", "Column '{}' has duplicated value '{}' in ENUM"),
    1298: ("HY000", "Unknown or incorrect time zone: '{}'"),
    1305: ("42000", "SAVEPOINT {} does not exist"),
    1364: ("HY000", "Field '{}' doesn't have a default value"),
    1365: ("22012", "Division by 0"),
    1366: ("HY000", "Incorrect {} value: '{}' for column '{}' at row {}"),
    1406: ("22001", "Data too long for column '{}' at row {}"),
    1411: ("HY000", "Incorrect {} value: '{}' for function {}"),
    1416: ("22003", "Cannot get geometry object from data you send to the GEOMETRY field"),
    1426: ("42000", "Too-big precision {} specified for '{}'. Maximum is {}."),
    1427: ("42000", "For float(M,D), double(M,D) or decimal(M,D), M must be >= D (column '{}')."),
    1439: ("42000", "Display width out of range for column '{}' (max = {})"),
    1442: ("HY000", "Can't update table '{}' in stored function/trigger because it is already used by this statement"),
    1451: ("23000", "Cannot delete or update a parent row: a foreign key constraint fails ({})"),
    1452: ("23000", "Cannot add or update a child row: a foreign key constraint fails ({})"),
    1467: ("HY000", "Failed to read auto-increment value from storage engine"),
    1701: ("42000", "Cannot truncate a table referenced in a foreign key constraint ({})"),
    1792: ("25006", "Cannot execute statement in a READ ONLY transaction."),
    1690: ("22003", "{} value is out of range in '{}'"),
    3037: ("22023", "Invalid GIS data provided to function {}."),
    3105: ("HY000", "The value specified for generated column '{}' in table '{}' is not allowed."),
    1824: ("HY000", "Failed to open the referenced table '{}'"),
    1826: ("HY000", "Duplicate foreign key constraint name '{}'"),
    3734: (
        "HY000",
        "Failed to add the foreign key constraint. Missing column '{}' for constraint '{}' in the referenced table "
        "'{}'",
    ),
    4161: ("HY000", "Unknown data type: '{}'"),
    3109: ("HY000", "Generated column '{}' cannot refer to auto-increment column."),
    3140: ("22032", "Invalid JSON text: {} in value for column '{}'."),
    3141: ("22032", "Invalid JSON text in argument {} to function {}: {}."),
    3144: ("22032", "Cannot create a JSON value from a string with CHARACTER SET '{}'."),
    3156: ("22018", "Invalid JSON value for CAST to {} from column {} at row {}"),
    4078: ("HY000", "Cannot cast '{}' as '{}' in assignment of column '{}'"),
    3143: ("42000", "Invalid JSON path expression."),
    3730: ("HY000", "Cannot drop table '{}' referenced by a foreign key constraint '{}' on table '{}'."),
    3819: ("HY000", "Check constraint '{}' is violated."),
    38190: ("HY000", "Check constraint '{}' is violated."),
    1367: ("22007", "Illegal {} '{}' value found during parsing"),
    1229: ("HY000", "Variable '{}' is a GLOBAL variable and should be set with SET GLOBAL"),
    1238: ("HY000", "Variable '{}' is a {} variable"),
    1232: ("42000", "Incorrect argument type to variable '{}'"),
    1582: ("42000", "Incorrect parameter count in the call to native function '{}'"),
    1318: ("42000", "Incorrect number of arguments for {} {}; expected {}, got {}"),
    1109: ("42S02", "Unknown table '{}' in {}"),
    1221: ("HY000", "Incorrect usage of {} and {}"),
    1288: ("HY000", "The target table {} of the {} is not updatable"),
    1348: ("HY000", "Column '{}' is not updatable"),
    1172: ("42000", "Result consisted of more than one row"),
    1321: ("2F005", "FUNCTION {} ended without RETURN"),
    1324: ("42000", "Undefined CURSOR: {}"),
    1326: ("24000", "Cursor is not open"),
    1329: ("02000", "No data - zero rows fetched, selected, or processed"),
    1304: ("42000", "{} {} already exists"),
    1456: ("HY000", "Recursive limit {} (as set by the max_sp_recursion_depth variable) was exceeded for routine {}"),
    1644: ("45000", "{}"),
    1243: ("HY000", "Unknown prepared statement handler ({}) given to {}"),
    1210: ("HY000", "Incorrect arguments to {}"),
    4092: ("42S02", "Unknown VIEW: '{}'"),
    1111: ("HY000", "Invalid use of group function"),
    1353: (
        "HY000",
        "In definition of view, derived table or common table expression, SELECT list and column names list "
        "have different column counts",
    ),
    3579: ("HY000", "Window name '{}' is not defined."),
    3636: (
        "HY000",
        "Recursive query aborted after {} iterations. Try increasing @@cte_max_recursion_depth",
    ),
    3020: ("2201E", "Invalid argument for {}"),
    13050: ("42000", "{} does not exist"),
    3064: ("HY000", "Incorrect type for argument 1 in function json_quote."),
    3146: (
        "22032",
        "Invalid data type for JSON data in argument {} to function {}",
    ),
    3149: ("42000", "In this situation, path expressions may not contain the * and ** tokens or an array range."),
    3153: ("42000", "The path expression '$' is not allowed in this context."),
    3154: ("42000", "The oneOrAll argument to {} may take these values: 'one' or 'all'."),
    3158: ("22032", "JSON documents may not contain NULL member names."),
    3165: ("42000", "A path expression is not a path to a cell in an array."),
    1396: ("HY000", "Operation {} failed for {}"),
    1327: ("42000", "Undeclared variable: {}"),
    1360: ("HY000", "Trigger does not exist"),
    1359: ("HY000", "Trigger already exists"),
    1397: ("XAE04", "XAER_NOTA: Unknown XID"),
    1399: ("XAE07", "XAER_RMFAIL: The command cannot be executed when global transaction is in the  {} state"),
}


# What MariaDB says instead: its number, SQLSTATE and text; `where` is the table that the statement changes.
MARIADB: Final = {
    1091: (1091, "42000", "Can't DROP {1} `{0}`; check that it exists"),
    1292: (1292, "22007", "Incorrect {0} value: '{1}' for column {where}.`{2}` at row {3}"),
    1366: (1366, "22007", "Incorrect {0} value: '{1}' for column {where}.`{2}` at row {3}"),
    1792: (1792, "25006", "Cannot execute statement in a READ ONLY transaction"),
    3105: (1906, "HY000", "The value specified for generated column '{0}' in table '{1}' has been ignored"),
    3819: (4025, "23000", "CONSTRAINT `{0}` failed for {where}"),
    4078: (4078, "HY000", "Cannot cast '{0}' as '{1}' in assignment of {where}.`{2}`"),
}
# Where a column is unknown: as MySQL and as MariaDB call the place.
PLACES: Final = {
    "field list": ("field list", "SELECT"),
    "columns": ("field list", "INSERT INTO"),
    "values": ("field list", "VALUES"),
    "set": ("field list", "SET"),
    "on duplicate": ("field list", "UPDATE"),
    "where clause": ("where clause", "WHERE"),
    "order clause": ("order clause", "ORDER BY"),
    "group statement": ("group statement", "GROUP BY"),
    "on clause": ("on clause", "ON"),
}


class SqlError(Exception):
    """An error of the database: `ERROR 1062 (23000): Duplicate entry '1' for key 'PRIMARY'`."""

    def __init__(self, number: int, *facts: object) -> None:
        self.place: object = ""
        self.key, self.facts = number, facts
        state, text = TEXTS[number]
        if number in (1052, 1054):
            self.place = PLACES.get(str(facts[1]), ("", facts[1]))[1]
            self.facts = (facts[0], PLACES.get(str(facts[1]), (facts[1],))[0])
        # a second text of a number stands under ten times it
        self.report(number if number < 10_000 else number // 10, state, text.format(*self.facts))

    def report(self, number: int, state: str, text: str) -> None:
        self.number, self.state, self.text = number, state, text

    def __str__(self) -> str:
        return f"ERROR {self.number} ({self.state}): {self.text}"

    def complete(self, statement: str, database: str, table: str, *, mariadb: bool) -> None:
        """Say what the whole statement tells: the line of a mistake, the table of a column, and MariaDB's words."""
        if self.key == 1064:
            near = str(self.facts[0])
            found = statement.rfind(near) if near else len(statement)
            line = statement.count("\n", 0, max(found, 0)) + 1
            self.report(1064, "42000", f"{SYNTAX.format('MariaDB' if mariadb else 'MySQL')} '{near}' at line {line}")
        elif mariadb and self.key in MARIADB:
            number, state, text = MARIADB[self.key]
            self.report(number, state, text.format(*self.facts, where=f"`{database}`.`{table}`"))
        elif mariadb and self.key == 1054:
            self.text = f"Unknown column '{self.facts[0]}' in '{self.place}'"
        elif mariadb and self.key == 38190:
            self.report(4025, "23000", f"CONSTRAINT `{table}.{self.facts[0]}` failed for `{database}`.`{table}`")
        elif self.key == 3140:
            self.text = f"Invalid JSON text: {self.facts[0]} in value for column '{table}.{self.facts[1]}'."


class Unsupported(Exception):
    """A statement, or a part of one, that the evaluator does not know: a phrase that says what."""
