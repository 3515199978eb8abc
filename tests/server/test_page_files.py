"""The files of the page: who gets them, and what browsers may do with them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness import Server
from holdfast.server.app import build_table
from holdfast.server.page.page_addresses import ASSETS, VIEWS, is_page_path

ADDRESSES = ["/", "/programs/sess_1", "/calls?filter=x", "/agents/compare?left=a", "/holds/hold_1"]


def read_policy(text: str) -> dict[str, str]:
    return {name: value for name, _, value in (rule.partition(" ") for rule in text.split("; "))}


@pytest.mark.parametrize("address", ADDRESSES)
def test_every_address_of_the_page_gives_the_same_document(server: Server, address: str) -> None:
    answer = server.http.get(address)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/html")
    assert "<title>Holdfast</title>" in answer.text


def test_the_policy_allows_the_page_its_own_files_and_nothing_else(server: Server) -> None:
    answer = server.http.get("/")
    policy = read_policy(answer.headers["content-security-policy"])
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == "'self'"
    assert policy["connect-src"] == "'self'"
    assert policy["frame-ancestors"] == "'none'"
    assert policy["require-trusted-types-for"] == "'script'"
    assert "unsafe" not in answer.headers["content-security-policy"]
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["cache-control"] == "no-store"


def test_the_nonce_is_another_one_in_every_answer(server: Server) -> None:
    nonces = set()
    for _ in range(3):
        answer = server.http.get("/")
        [nonce] = re.findall(r"'nonce-([^']+)'", answer.headers["content-security-policy"])
        assert "HOLDFAST_NONCE" not in answer.text
        nonces.add(nonce)
    assert len(nonces) == 3


def test_the_document_has_nothing_inline(server: Server) -> None:
    text = server.http.get("/").text
    assert not re.search(r"<script(?![^>]*\bsrc=)", text)
    assert "<style" not in text
    assert not re.search(r"\son\w+=|\sstyle=", text)


def test_its_files_may_be_kept_because_their_names_have_their_hash(server: Server) -> None:
    paths = re.findall(r'(?:src|href)="(/assets/[^"]+)"', server.http.get("/").text)
    assert {Path(path).suffix for path in paths} == {".js", ".css", ".svg"}
    for path in paths:
        answer = server.http.get(path)
        assert answer.status_code == 200
        assert "immutable" in answer.headers["cache-control"]
        assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "path",
    [
        "/assets/none.js",
        "/assets/",
        "/assets/%2e%2e/index.html",
        "/assets/..%2f..%2fapp.py",
        "/assets/%00",
        f"/assets/{'a' * 300}",
    ],
)
def test_only_its_own_files_are_served(server: Server, path: str) -> None:
    assert server.http.get(path).status_code == 404


def test_the_page_is_only_read(server: Server) -> None:
    assert server.http.post("/", json={}).status_code == 404
    assert server.http.head("/").status_code == 200


def test_no_address_of_the_page_is_one_of_the_interface() -> None:
    table, _ = build_table()
    taken = {route.path.split("/")[1] for route in table.routes}
    assert taken.isdisjoint({*VIEWS, ASSETS})


def test_only_whole_names_are_addresses_of_the_page() -> None:
    assert all(map(is_page_path, ["/", "/calls", "/calls/", "/calls/c_1", "/assets/x.js"]))
    assert not any(map(is_page_path, ["/callsite", "/sessions", "/api/calls", "/assets", "//"]))


# -- who may have it -----------------------------------------------------------------------------

LINK = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}


def test_a_link_from_another_site_may_open_the_page_and_nothing_else(server: Server) -> None:
    assert server.http.get("/programs/sess_1", headers=LINK).status_code == 200
    assert server.http.get("/sessions", headers=LINK).status_code == 403
    framed = {**LINK, "Sec-Fetch-Dest": "iframe"}
    assert server.http.get("/", headers=framed).status_code == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_page_of_another_port_gets_nothing(server: Server, site: str) -> None:
    headers = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "script"}
    assert server.http.get("/sessions", headers=headers).status_code == 403
    assert server.http.get("/", headers=headers).status_code == 403


def test_the_page_needs_no_token_but_what_it_shows_does(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("secret-token-of-this-test-0123456789")
    token.chmod(0o600)
    server = Server(tmp_path / "data", "--token-file", str(token))
    try:
        assert server.http.get("/").status_code == 200
        assert server.http.get("/sessions").status_code == 401
        assert server.http.get("/api/stream").status_code == 401
    finally:
        server.stop()


# -- without it ----------------------------------------------------------------------------------


def test_a_server_without_a_page_says_so_and_serves_the_rest(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    server = Server(tmp_path / "data", env={"HOLDFAST_PAGE_DIR": str(empty)})
    try:
        answer = server.http.get("/")
        assert answer.status_code == 200
        assert "without its page" in answer.text
        assert "make web" in answer.text
        assert server.get("/sessions")["total"] == 0
    finally:
        server.stop()
