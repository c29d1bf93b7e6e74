"""CloudCanal (ClouGence; BladePipe abroad). Read `json` first; `systems` has the product's facts of each source."""
