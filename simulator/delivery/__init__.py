"""Turns changes into addressed packs: marks, pack, route. Formats declare the rules; there is no code of
any product.
"""
