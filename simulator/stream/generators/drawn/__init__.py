"""Values drawn by hash, or taken from literals and pools."""
