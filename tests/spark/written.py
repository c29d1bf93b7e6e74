"""What runs wrote into a folder, as digests."""

from __future__ import annotations

import hashlib
from pathlib import Path


def digests(folder: Path) -> dict[str, str]:
    """SHA-256 of each partition, whether it is one file or a folder of files whose order is that of their names."""
    found = {}
    for path in sorted(folder.iterdir()):
        if path.name not in ("_SUCCESS", ".unfinished"):
            files = sorted(path.iterdir()) if path.is_dir() else [path]
            digest = hashlib.sha256(b"".join(file.read_bytes() for file in files))
            found[path.name.removesuffix(".jsonl")] = digest.hexdigest()
    return found
