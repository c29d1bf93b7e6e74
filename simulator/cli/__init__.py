"""The `cdcsim` command: `commands` is where it begins; `run`, `look`, `files` and `about` hold the commands, which read
options and call the library; the rest prints."""
