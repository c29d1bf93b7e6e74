"""From changes to addressed packs: marks, pack, route. Follows what a format declares; knows no product."""
