"""From changes to addressed packs: split, pack, route. Follows what a format declares; knows no product."""
