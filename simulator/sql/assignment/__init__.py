"""What a column makes of a value that is stored in it, as MySQL does on assignment. Read `assign` first."""
