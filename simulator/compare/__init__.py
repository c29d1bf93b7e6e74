"""Comparison of formats on the same changes. `comparison` makes the messages, cut into members (`members`); `types`
renders the boundary values of types. `terminal` and `page` show the result; `live` serves the page with an editor, and
the process of `worker` compares its drafts. Read `comparison` first.
"""
