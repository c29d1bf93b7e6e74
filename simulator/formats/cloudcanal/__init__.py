"""CloudCanal (ClouGence; BladePipe abroad). Read `json` first; `sources` is what the product says of each system."""
