"""What a column makes of a value that is stored in it. Read `conversion` first."""
