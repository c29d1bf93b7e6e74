"""OceanBase: what its two modes share. Read `log` first."""
