"""CloudCanal (ClouGence; BladePipe abroad): one module a format; `envelope` is what they share. Read `json` first."""
