"""What looks like a secret, by name and by its own looks."""

from __future__ import annotations

import pytest

from holdfast.core.secret_values import HIDDEN, hide_secrets, hide_value, is_secret

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize(
    "name",
    [
        *("password", "db_password", "PASSWORD", "passwd", "secret", "client_secret", "api_key"),
        *("apiKey", "access_token", "authorization", "Authorization", "cookie", "cookies"),
        *("private_key", "credentials", "self.password", "passphrase", "session_token"),
        *("d['password']", "['password']", 'config.get("api_key")', "passwords[0]", "a[1].secret"),
    ],
)
def test_a_value_is_secret_by_its_name(name: str) -> None:
    assert hide_value(name, "'hunter2'") == HIDDEN


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("token", "'abc123def456'"),
        ("bot_token", "'x9y8z7w6v5'"),
        ("dsn", "'https7f3a9c@errors'"),
        ("pwd", "'hunter2'"),
    ],
)
def test_a_vague_name_is_secret_if_its_value_looks_random(name: str, value: str) -> None:
    assert is_secret(name, value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("tokens", "12"),
        ("token_count", "12"),
        ("token", "'while'"),
        ("token", "Token(kind='NAME', text='x')"),
        ("pwd", "'/home/me'"),
        ("password", "None"),
        ("password", "''"),
        ("has_password", "True"),
        ("password_length", "12"),
        ("max_tokens", "800"),
        ("secrets", "<module 'secrets' from '/usr/lib/secrets.py'>"),
        ("hash_password", "<function hash_password at 0x7f>"),
        ("secret_name", "'db/main'"),
        ("key", "'a'"),
        ("monkey", "'chimp'"),
        ("author", "'me'"),
        ("keys", "['a', 'b']"),
        ("len(password)", "7"),
    ],
)
def test_what_only_sounds_like_a_secret_is_shown(name: str, value: str) -> None:
    assert hide_value(name, value) == value


@pytest.mark.parametrize(
    "secret",
    [
        "sk-abcdefghijklmnopqrstuvwx",
        "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
        "AKIAIOSFODNN7EXAMPLE",
        JWT,
    ],
)
def test_a_value_is_secret_by_its_looks(secret: str) -> None:
    hidden = hide_secrets(f"['first', '{secret}', 3]")
    assert hidden == f"['first', '{HIDDEN}', 3]"


def test_a_private_key_is_hidden_whole_or_cut() -> None:
    assert hide_secrets(f"key: {PEM} end") == f"key: {HIDDEN} end"
    assert hide_secrets(f"key: {PEM[:40]}") == f"key: {HIDDEN}"


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("{'password': 'x', 'user': 'me'}", f"{{'password': '{HIDDEN}', 'user': 'me'}}"),
        ("{'api_key': 'half of i…", f"{{'api_key': '{HIDDEN}…"),
        ("{'token': 'abc123def'}", f"{{'token': '{HIDDEN}'}}"),
        ("{'token': 'identifier'}", "{'token': 'identifier'}"),
        ("Login(password='x1')", f"Login(password='{HIDDEN}')"),
        ("postgres://me:pw@db/x", f"postgres://{HIDDEN}@db/x"),
        ("'postgres://me:half of…", "'postgres://me:half of…"),
        ("'postgres://me:half…", f"'postgres://{HIDDEN}…"),
        ("password=topsecret ok", f"password={HIDDEN} ok"),
        ("İİİİİİ password=topsecret", f"İİİİİİ password={HIDDEN}"),
        ("Authorization: Basic dXNlcjpw ok", f"Authorization: {HIDDEN} ok"),
        ("password == 'topsecret'", f"password == '{HIDDEN}'"),
        ("password == other", "password == other"),
        ("def log_in(password: str)", "def log_in(password: str)"),
    ],
)
def test_secrets_inside_a_text_are_hidden(text: str, hidden: str) -> None:
    assert hide_secrets(text) == hidden


def test_hiding_twice_changes_nothing_more() -> None:
    for text in (f"password=x1 {JWT} {PEM}", "{'password': 'x', 'token': 'abc123def'}"):
        once = hide_secrets(text)
        assert hide_secrets(once) == once
