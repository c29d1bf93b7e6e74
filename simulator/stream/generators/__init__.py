"""Where the values of columns come from. Read `generators` first."""
