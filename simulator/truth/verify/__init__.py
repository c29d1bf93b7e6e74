"""The verdict on a consumer, or on what lies between: were the messages right, and are the tables?

`comparison.py` holds messages that were read back against those that a run would send; `files.py` reads files,
`simulator/sinks/kafka/reader.py` a broker. `alignment.py` decides, partition by partition; `naming.py` finds words.
"""
