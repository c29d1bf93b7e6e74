"""The values of expressions: kinds, dates and times, JSON documents, and how values compare. Read `kinds` first."""
