"""Secrets do not get into the files: what looks like one is replaced before it is written.

By the name of a field (`api_key`, `password`, `authorization`…), and by its own looks (keys of the
common providers, bearer tokens, private keys, passwords in addresses). `start(redact=[…])` adds
patterns of one's own; `start(redact=False)` writes everything.

Most texts have nothing of the kind, which one quick look tells. The others are parsed, cleaned and
encoded again, so that what is written is JSON whatever was in it. Every pattern begins where a
word begins and is bounded, because they run over whatever a tool returns.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

REDACTED = "[redacted]"

_QUALIFIED = r"(?:api|access|secret|private|auth|client|refresh|id|session|bearer)[-_]?"
_NAME = re.compile(
    rf"[\w-]*?(?:{_QUALIFIED}(?:key|token|secret)|password|passwd|passphrase|secret"
    r"|authorization|cookie|credential)(?:s|[-_][\w-]*)?",
    re.IGNORECASE,
)
# Words after which, in a text, a value may stand: `password=…`, `"client_secret": "…"`.
_WORDS = (
    *("password", "passwd", "passphrase", "secret", "authorization", "api_key", "api-key"),
    *("apikey", "access_key", "access-key", "private_key", "auth_token", "access_token"),
    *("api_token", "refresh_token", "id_token", "session_token", "bearer_token", "client_key"),
)
_VALUE = re.compile(
    r"""[\w-]{0,40}\\{0,4}["']?\s{0,3}[:=]\s{0,3}"""
    r"""(?:\\{0,4}"(?P<d>[^"\\]{1,4000})|'(?P<s>[^']{1,4000})'|(?P<b>[^\s"'&,;)}\]\\]{1,4000}))"""
)
_LOOKS = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"sk-[A-Za-z0-9_-]{16,400}|gh[pousr]_[A-Za-z0-9]{20,400}|github_pat_[A-Za-z0-9_]{20,400}"
    r"|xox[abprs]-[A-Za-z0-9-]{10,400}|AKIA[0-9A-Z]{16}|AIza[0-9A-Za-z_-]{30,400})"
    r"|(?<=[Bb]earer )[A-Za-z0-9._~+/=-]{16,4000}"
    r"|(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{10,2000}\.[A-Za-z0-9_-]{10,4000}\.[A-Za-z0-9_-]{5,2000}"
    r"|(?<=://)[^/\s:@]{1,200}:[^/\s@]{1,200}(?=@)"
)
_BEGIN, _END = "-----BEGIN ", "-----END "
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
                name: self._clean_value(item, is_secret or _NAME.fullmatch(name[:200]) is not None)
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
        clean = _remove_private_keys(text) if _BEGIN in text else text
        clean = _remove_named_values(_LOOKS.sub(REDACTED, clean))
        return clean if self._own is None else self._own.sub(REDACTED, clean)


def _is_name_of_next(text: str, count: int) -> bool:
    is_option = text.startswith("-")
    name = text.lstrip("-")
    return (is_option or count == 2) and len(name) < 100 and _NAME.fullmatch(name) is not None


def _remove_private_keys(text: str) -> str:
    """Private keys, from their beginning to their end, or to that of the text."""
    parts, at = [], 0
    while (begin := text.find(_BEGIN, at)) >= 0:
        line_end = text.find("-----", begin + len(_BEGIN))
        if line_end < 0 or "PRIVATE KEY" not in text[begin:line_end][:80]:
            parts.append(text[at : begin + len(_BEGIN)])
            at = begin + len(_BEGIN)
            continue
        parts += [text[at:begin], REDACTED]
        end = text.find(_END, line_end)
        at = len(text) if end < 0 else text.find("-----", end + len(_END))
        at = len(text) if at < 0 else min(len(text), at + 5)
    return "".join((*parts, text[at:]))


def _remove_named_values(text: str) -> str:
    low = text.lower()
    spans: list[tuple[int, int]] = []
    for word in _WORDS:
        at = low.find(word)
        while at >= 0:
            found = _VALUE.match(text, at + len(word))
            if found is not None:
                spans.append(found.span(found.lastgroup or 0))
            at = low.find(word, at + len(word) if found is None else found.end())
    if not spans:
        return text
    parts, at = [], 0
    for begin, end in sorted(spans):
        if begin >= at and text[begin:end] != REDACTED:
            parts += [text[at:begin], REDACTED]
            at = end
    return "".join((*parts, text[at:]))
