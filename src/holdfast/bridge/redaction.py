"""Secrets do not get into the files: what looks like one is replaced before it is written.

By the name of a field (`api_key`, `password`, `authorization`…), and by its own looks (keys of the
common providers, bearer tokens, private keys, passwords in addresses). `start(redact=[…])` adds
patterns of one's own; `start(redact=False)` writes everything. The rules are in
`core/secret_values.py`.

Most texts have nothing of the kind, which one quick look tells. The others are parsed, cleaned and
encoded again, so that what is written is JSON whatever was in it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from holdfast.core.secret_values import is_secret_name, replace_secrets

REDACTED = "[redacted]"

_HINTS = (
    *('key"', "key\\", "key=", "_key", "-key", 'token"', "token\\", "_token", "-token", "secret"),
    *("passw", "passphrase", "authorization", "cookie", "credential", "bearer ", "private key"),
    *("sk-", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "xox", "akia", "aiza", "eyj"),
    "://",
)
# Each hint contains one of these.
_HINT_WORDS = (
    *("key", "token", "secret", "pass", "authorization", "cookie", "credential", "bearer "),
    *("sk-", "gh", "github_pat_", "xox", "akia", "aiza", "eyj", "://"),
)
# What nearly every answer of a model counts; no secret has such a name.
_COUNTED = ("input", "output", "prompt", "completion", "total", "cached", "reasoning", "max")
_COUNTS = tuple((f"{what}_tokens", f"{what}#s") for what in _COUNTED)


class Redaction:
    def __init__(self, wanted: bool | Sequence[str] = True) -> None:
        own = [] if isinstance(wanted, bool) else list(wanted)
        self._is_on = wanted is not False
        self._own = re.compile("|".join(f"(?:{pattern})" for pattern in own)) if own else None

    def clean(self, text: str) -> str:
        """JSON without what must not be written; the same JSON if there is nothing of the kind."""
        if not self._is_on:
            return text
        if self._own is None:
            # A quick look, which most texts pass; it may take a text for secret, never miss one.
            low = text.lower()
            for word in _HINT_WORDS:
                if word in low:
                    break
            else:
                return text
            if "_tokens" in low:
                for name, without_hint in _COUNTS:
                    low = low.replace(name, without_hint)
            if not any(hint in low for hint in _HINTS):
                return text
        try:
            value = json.loads(text)
            clean = self._clean_value(value)
        except (ValueError, RecursionError):  # nothing that we wrote: nested too deeply, say
            return json.dumps(self._clean_text(text))
        return text if clean == value else json.dumps(clean, separators=(",", ":"))

    def has_secret(self, data: bytes) -> bool:
        """Whether there is something of the kind in bytes that cannot be changed."""
        if not self._is_on:
            return False
        text = data.decode("latin-1")
        return self._clean_text(text) != text

    def _clean_value(self, value: Any, is_secret: bool = False) -> Any:
        if isinstance(value, str):
            return REDACTED if is_secret and value else self._clean_text(value)
        if isinstance(value, dict):
            return {
                name: self._clean_value(item, is_secret or is_secret_name(name))
                for name, item in value.items()
            }
        if isinstance(value, list):
            return self._clean_list(value, is_secret)
        if value is None or isinstance(value, bool):
            return value
        if is_secret or (self._own is not None and self._own.search(str(value))):
            return REDACTED
        return value

    def _clean_list(self, items: list[Any], is_secret: bool) -> list[Any]:
        """`["Authorization", "Basic …"]`, and `--password …` among arguments."""
        clean, follows = [], False
        for item in items:
            clean.append(self._clean_value(item, is_secret or follows))
            follows = isinstance(item, str) and _is_name_of_next(item, len(items))
        return clean

    def _clean_text(self, text: str) -> str:
        clean = replace_secrets(text, REDACTED)
        return clean if self._own is None else self._own.sub(REDACTED, clean)


def _is_name_of_next(text: str, count: int) -> bool:
    is_option = text.startswith("-")
    name = text.lstrip("-")
    return (is_option or count == 2) and len(name) < 100 and is_secret_name(name)
