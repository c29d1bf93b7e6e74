"""OceanBase, in MySQL mode and in Oracle mode. Read `source` first; `log` has the commit log."""
