"""A run's counters for Prometheus (`--metrics HOST:PORT`), over HTTP."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from simulator.errors import OptionError, SinkError
from simulator.run.pipeline import Run
from simulator.run.report.record import Latencies


def parse_address(text: str) -> tuple[str, int]:
    """Host and port of `127.0.0.1:9100`. Raises OptionError."""
    match = re.fullmatch(r"([^\s:]+|\[[0-9a-fA-F:]+\]):(\d{1,5})", text)
    if match is None or int(match[2]) > 65535:
        raise OptionError(f"--metrics {text}: write a host and a port, as in 127.0.0.1:9100.")
    return match[1].strip("[]"), int(match[2])


@contextmanager
def served(address: tuple[str, int], run: Run, latencies: Latencies) -> Iterator[int]:
    """Serves the counters while the run lasts; yields the port (the system chooses one for 0). Raises SinkError."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = text(run, latencies).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Logs nothing: requests do not belong on stderr."""

    try:
        server = ThreadingHTTPServer(address, Handler)
    except OSError as error:
        raise SinkError(f"--metrics {address[0]}:{address[1]}: {error.strerror}; choose another port.") from None
    thread = threading.Thread(target=server.serve_forever, args=(0.1,), name="cdcsim-metrics", daemon=True)
    thread.start()
    try:
        yield int(server.server_address[1])
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def text(run: Run, latencies: Latencies) -> str:
    """The counters in Prometheus's text format."""
    ledger = run.sink.ledger
    unit = "row_changes" if run.pace is None or run.pace.unit == "changes" else run.pace.unit
    wanted = (
        () if run.pace is None else ((f"{unit}_wanted_total", "counter", "How many the rate asks for.", run.wanted),)
    )
    lines = []
    for name, kind, help, value in (
        ("messages_sent_total", "counter", "Messages handed to the destination's client.", ledger.sent),
        ("messages_delivered_total", "counter", "Messages that the destination acknowledged.", ledger.delivered),
        ("messages_failed_total", "counter", "Messages that were not delivered.", ledger.failed),
        ("row_changes_delivered_total", "counter", "Row changes in delivered messages.", ledger.delivered_changes),
        ("bytes_sent_total", "counter", "Bytes of the values of messages.", run.summary.bytes),
        ("messages_open", "gauge", "Messages without an answer.", ledger.open),
        ("stalled_seconds", "gauge", "How long messages have waited without a single answer.", ledger.stalled_seconds),
        *wanted,
        (f"{unit}_behind", "gauge", "How many of them a run is behind its rate.", run.lag),
    ):
        lines += [f"# HELP cdcsim_{name} {help}", f"# TYPE cdcsim_{name} {kind}", f"cdcsim_{name} {value}"]
    lines += [
        "# HELP cdcsim_latency_seconds From when a message was due to its acknowledgement.",
        "# TYPE cdcsim_latency_seconds summary",
    ]
    for name, milliseconds in latencies.percentiles().items():
        quantile = 1.0 if name == "max" else float(name[1:]) / 100
        lines.append(f'cdcsim_latency_seconds{{quantile="{quantile:g}"}} {milliseconds / 1000:g}')
    return "\n".join(lines) + "\n"
