"""Verdicts on a pipeline: whether its messages, and the consumer's tables, are right.

`comparison.py` compares messages that were read back with those that a run would send; `files.py` reads files,
`simulator/sinks/kafka/reader.py` a broker. `alignment.py` decides partition by partition; `naming.py` words findings.
"""
