"""The slot of a turn, and the turns of a slot: computed from tables, without state.

| module | holds |
| --- | --- |
| `traffic` | both directions, from turns to visits and back |
| `cohorts` | ranges of slots with one program and one weight |
| `deals` | which cohort has a turn; surges |
| `seats` | which slot of a cohort has it |
| `circles` | how slots move along the seats: hot ones that change over time; steps that a deck repeats |
| `tiers` | how many slots have which weight, by `hot`, `zipf` and `surges` of a table |
"""
