"""Rendering in several processes: `workers` share out the blocks, `shared_memory` brings their arrays to the run."""
