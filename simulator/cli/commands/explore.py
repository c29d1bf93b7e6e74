"""`cdcsim explore`: the live page is served until Ctrl-C."""

from __future__ import annotations

import os
import signal
import sys
import webbrowser
from contextlib import suppress

import click

from simulator.compare.live import open_server, shared, view_of
from simulator.run.scenario import draft_of


def serve(scenario: str, port: int, *, browser: bool) -> None:
    """Print the page's address, open it, and answer until Ctrl-C. Raises UsageError."""
    with suppress(KeyboardInterrupt), open_server(shared(scenario) or draft_of(scenario), port) as server:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # its worker is to be ended, too
        click.echo("Edit the scenario at this address; Ctrl-C ends the server.", err=True)
        address = server.url + view_of(scenario)
        click.echo(address)
        if browser and _has_display():
            webbrowser.open(address)
        server.serve_forever(0.1)


def _has_display() -> bool:
    """Whether a browser has a window. Without one, Python would open a text browser in this terminal."""
    if sys.platform == "darwin" or os.environ.get("BROWSER"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
