"""Column values as text in the JSON formats of DTS, and as the text that partitions are made of.

The page shows strings only. Values look as the vendor's own SDK prints them where it does, else:

| values | text |
| --- | --- |
| integers, BIT | digits |
| decimals, NUMBER | plain, the column's scale kept |
| floating point | as Java prints it |
| dates and times | `2021-01-27 15:34:46.35`: fractions without trailing zeros (`frac=pad`: as declared) |
| timestamps that keep no time zone | at `timestamp_zone`; followed by it, ` +08:00`, except MySQL's |
| timestamps with a time zone | followed by a blank and the zone |
| ENUM, SET | labels |
| bytes, geometries | MySQL: ISO-8859-1 characters, as in Canal; others: hexadecimal digits, as the SDK prints them |
| Oracle's intervals | `-4-3`, `1 2:3:4.000000005`, as the vendor's demo prints them |
| PostgreSQL's | as the server prints them: `t`, `1e+20`, `infinity`, `2021-01-27 15:34:46+08` |
| all else | the database's own text |
"""
