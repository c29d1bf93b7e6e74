"""From the text of a script to statements and definitions. Read `client` first."""
