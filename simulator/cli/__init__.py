"""The `cdcsim` command: `commands` is where it begins and holds the commands, which read options and call the library;
the rest is what they share, and what prints."""
