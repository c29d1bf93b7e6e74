"""What a server keeps: databases, tables and rows, the session, its transactions and its log. Read `catalog` first."""
