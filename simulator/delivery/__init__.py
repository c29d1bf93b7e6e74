"""Turns changes into addressed packs: marks, pack, route. Follows a format's declarations; no code of any product."""
