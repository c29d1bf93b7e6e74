"""OceanBase Migration Service: one module a format; `envelope` holds what they share. Read `default` first."""
