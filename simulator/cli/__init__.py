"""The `cdcsim` command: `commands` reads options and calls the library, the rest prints. Read `commands` first."""
