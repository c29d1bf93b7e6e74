"""The same changes in several formats: `comparison` makes them, each message cut into members (`members`); `types`
has the boundary values of types. `terminal` and `page` show them; `live` serves the page with an editor, whose drafts
the process of `worker` compares. Read `comparison` first.
"""
