"""A key and a certificate for TLS on the loopback address; it signs itself, so clients must be told to trust it."""

from __future__ import annotations

import shutil
from pathlib import Path

from fetching import NativeError, run


def make(key: Path, certificate: Path) -> None:
    """Write both as PEM. Raises NativeError."""
    openssl = shutil.which("openssl")
    if not openssl:
        raise NativeError("a TLS listener needs a key: install openssl.")
    run(
        "openssl could not make a key",
        *(openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "3650", "-subj", "/CN=localhost"),
        *("-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"),
        *("-keyout", str(key), "-out", str(certificate)),
    )
