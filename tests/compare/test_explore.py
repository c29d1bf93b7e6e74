"""`cdcsim explore`: what its server answers to its page, and what it refuses to others."""

from __future__ import annotations

import json
import signal
import socket
import threading
import time
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
from command import Command, start

from simulator.compare.live import MOST_BYTES, MOST_CHARACTERS, Server, open_server
from simulator.compare.worker import Request, Worker
from simulator.run.scenario import Draft, draft_of

YAML = draft_of("compare").text
SCRIPT = "CREATE DATABASE d;\nUSE d;\nCREATE TABLE t (id INT PRIMARY KEY);\nINSERT INTO t VALUES (1);\n"
# forty doublings: more rows than any time is enough for
ENDLESS = SCRIPT.replace("PRIMARY KEY", "AUTO_INCREMENT PRIMARY KEY, a INT").replace("(1)", "(1, 1)")
ENDLESS += "INSERT INTO t (a) SELECT a FROM t;\n" * 40


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with open_server(draft_of("compare")) as server:
        serving = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        serving.start()
        yield server
        server.shutdown()
        serving.join()


def request(server: Server, method: str, path: str | None = None, body: str | None = None, **headers: str) -> Any:
    """The status and the body."""
    connection = HTTPConnection("127.0.0.1", server.server_address[1], timeout=300)
    connection.request(method, server.path if path is None else path, body, headers)
    response = connection.getresponse()
    text = response.read().decode()
    connection.close()
    return response.status, text


def ask(server: Server, text: str, file: str = "scenario.yaml", source: str | None = None) -> Any:
    body = {"text": text, "file": file, "source": source, "formats": ["canal-json", "oms-default"]}
    status, answer = request(server, "POST", body=json.dumps(body), Origin=server.url.removesuffix(server.path))
    assert status == 200, answer
    return json.loads(answer)


def test_answers_are_the_messages_or_what_check_says(server: Server, tmp_path: Path, command: Command) -> None:
    good = ask(server, YAML)
    assert (good["system"], good["error"], good["cut"]) == ("mysql", None, False)
    assert good["events"][1]["name"] == "INSERT shop.orders"
    assert {name: len(messages) for name, messages in good["events"][1]["messages"].items()} == {
        "canal-json": 1,
        "oms-default": 1,
    }
    oracle = ask(server, YAML, source="oracle")  # which Canal does not read
    assert (oracle["system"], list(oracle["events"][1]["messages"])) == ("oracle", ["oms-default"])
    wrong = YAML.replace('total: "decimal(10,2)"', "total: decmal")
    file = tmp_path / "scenario.yaml"
    file.write_text(wrong)
    error = ask(server, wrong, str(file))["error"]
    assert command("check", file, status=2).err == f"cdcsim: {error['text']}\n"
    assert error["line"] == 15

    broken = ask(server, SCRIPT + "INSERT INTO t VALUES (1);\nINSERT INTO t VALUES (2);\n", "scenario.sql")
    assert [event["name"] for event in broken["events"]][-1] == "INSERT d.t"
    assert broken["error"]["line"] == 5
    assert "Duplicate entry '1' for key" in broken["error"]["text"]
    many = SCRIPT + "".join(f"CREATE TABLE t{i} (id INT PRIMARY KEY);\n" for i in range(100))
    assert ask(server, many, "scenario.sql")["cut"]
    # no server is asked, whatever the script says
    assert ask(server, "-- @engine mysql://127.0.0.1:1/\n" + SCRIPT, "scenario.sql")["error"] is None


def test_a_scenario_that_takes_too_long_ends_alone() -> None:
    """And of those that wait meanwhile, only the newest is answered."""
    worker = Worker(seconds=2)
    worker.seconds = 60  # of the process that follows
    answers: dict[str, Any] = {}

    def answer(name: str, text: str, file: str) -> None:
        line = worker.answer(Request(Draft(text, file), None, ("canal-json",)))
        answers[name] = line and json.loads(line)

    threads = []
    for number, case in enumerate(
        (("long", ENDLESS, "a.sql"), ("replaced", YAML, "a.yaml"), ("newest", YAML, "a.yaml"))
    ):
        threads.append(threading.Thread(target=answer, args=case))
        threads[-1].start()
        while worker._newest == number:  # they ask in this order
            time.sleep(0.001)
    for thread in threads:
        thread.join()
    worker.close()
    assert answers["long"]["error"]["text"].startswith("the scenario takes more than ")
    assert (answers["replaced"], answers["newest"]["error"]) == (None, None)


def test_others_are_refused(server: Server) -> None:
    port = server.server_address[1]
    mine = f"http://127.0.0.1:{port}"
    status, page = request(server, "GET")
    assert (status, "CDC message formats" in page) == (200, True)
    assert server.server_address[0] == "127.0.0.1"
    cases: tuple[tuple[int, dict[str, Any]], ...] = (
        (403, {"method": "GET", "Host": f"evil.example:{port}"}),
        (403, {"method": "POST", "Host": f"evil.example:{port}", "Origin": f"http://evil.example:{port}"}),
        (403, {"method": "POST", "body": "{}"}),
        (403, {"method": "POST", "body": "{}", "Origin": "http://evil.example"}),
        (403, {"method": "POST", "body": "{}", "Origin": "null"}),
        (404, {"method": "GET", "path": "/"}),
        (404, {"method": "POST", "path": "/guess/", "body": "{}", "Origin": mine}),
        (400, {"method": "POST", "body": "{}", "Origin": mine}),
        (400, {"method": "POST", "body": "[" * 10_000, "Origin": mine}),
        (413, {"method": "POST", "Content-Length": str(MOST_BYTES + 1), "Origin": mine}),
        (501, {"method": "PUT", "Origin": mine}),
    )
    for expected, case in cases:
        assert request(server, **case)[0] == expected, case


def test_mistakes_are_a_sentence(tmp_path: Path, command: Command) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert command("explore", "--no-browser", "--port", str(port), status=2).err == (
            f"cdcsim: --port {port}: Address already in use; choose another port, or leave it out.\n"
        )
    large, latin = tmp_path / "large.sql", tmp_path / "latin.yaml"
    large.write_text("-" * (MOST_CHARACTERS + 1))
    latin.write_bytes(b"\xe9\n")
    assert "the editor takes 100,000" in command("explore", large, status=2).err
    assert "is not valid UTF-8" in command("explore", latin, status=2).err
    assert "Did you mean 'compare'?" in command("explore", "compar", status=2).err


def test_ctrl_c_ends_it_silently() -> None:
    with start("explore", "--no-browser") as process:
        assert process.stdout is not None
        address = process.stdout.readline().decode()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=300)
    assert address.startswith("http://127.0.0.1:")
    assert (process.returncode, out, err) == (130, b"", b"Edit the scenario at this address; Ctrl-C ends the server.\n")
