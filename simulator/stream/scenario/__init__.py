"""Scenario files: `language` says what they may hold, `loader` reads them, `checks` holds them against their source,
`tables` makes table versions of them. Read `loader` first.
"""
