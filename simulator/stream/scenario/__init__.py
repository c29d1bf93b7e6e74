"""Scenario files: `language` defines them, `loader` reads them, `checks` validates them for their source, `tables`
makes table versions of them. Read `loader` first.
"""
