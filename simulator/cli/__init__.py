"""The `cdcsim` command: `commands` reads options and calls the library, `output` prints. Read `commands` first."""
