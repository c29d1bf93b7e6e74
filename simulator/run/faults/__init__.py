"""Faults: what goes wrong between a database and a consumer, on request and repeatable.

A fault is a closed form of (scenario, seed, position in the stream), as the stream itself is. So any block can be made
alone, by any process, and `--workers`, Spark and `--resume` send the same bytes.

* `spec`: the kinds of fault, and `Faults`, their rates, from `--faults` or a scenario's `faults:`.
* `lives`: restarts of the product. The stream is cut into windows with one restart each; where it falls, its kind and
  the stored position follow from the window's number. What comes again is asked for again: the same changes, rendered
  for the next life of the process (`simulator.model.Life`), whose rule the format declares
  (`simulator.delivery.redelivery`).
* `flow` and `apply`: all other faults. They are applied to the finished messages of a block, in one place for all
  products: each message is struck or not by a hash of its order key, and reordering stays within windows of turns, at
  whose borders blocks begin.
* `renderer`: the renderer of a job with faults. A job without them has the plain one and pays nothing.

An alternative was a sink that repeats and damages what it is given. It would need no second rendering, but it cannot
renew a member, has to remember what it sent, and is another program in each of Spark's tasks.

Each occurrence is in the run's summary and record.
"""
