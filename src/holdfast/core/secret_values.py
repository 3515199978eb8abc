"""What looks like a secret: by the name of a value, and by its own looks.

Keys of the common providers, bearer tokens, private keys and passwords in addresses are known by
their looks. Every pattern begins where a word begins and is bounded, because they run over whatever
a program holds or a tool returns.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from string import ascii_lowercase, ascii_uppercase

_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)
HIDDEN = "<hidden: looks like a secret>"

_QUALIFIED = r"(?:api|access|secret|private|auth|client|refresh|id|session|bearer)[-_]?"
_NAME = re.compile(
    rf"[\w-]*?(?:{_QUALIFIED}(?:key|token|secret)|password|passwd|passphrase|secret"
    r"|authorization|cookie|credential)(?:s|[-_][\w-]*)?",
    re.IGNORECASE,
)
# Words after which, in a text, a value may stand: `password=…`, `"client_secret": "…"`.
_WORDS = (
    *("password", "passwd", "passphrase", "secret", "authorization", "cookie"),
    *("api_key", "api-key", "apikey", "access_key", "access-key", "private_key", "client_key"),
    *("auth_token", "access_token", "api_token", "refresh_token", "id_token", "session_token"),
    "bearer_token",
)
# A bare value may have the name of its scheme before it. An annotation and a comparison have none.
_VALUE = re.compile(
    r"""[\w-]{0,40}\\{0,4}["']?\s{0,3}(?:"""
    r"""[:=]=?\s{0,3}(?:\\{0,4}"(?P<d>[^"\\]{1,4000})|'(?P<s>[^'…]{1,4000})(?:['…]|\Z))"""
    r"""|[:=](?!=)\s{0,3}(?!(?:str|bytes|int|bool|None|True|False|Any|Optional)\b)"""
    r"""(?P<b>(?:(?:Basic|Bearer|Digest|Token)\s)?[^\s"'&,;)}\]\\]{1,4000}))"""
)
_LOOKS = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"sk-[A-Za-z0-9_-]{16,400}|gh[pousr]_[A-Za-z0-9]{20,400}|github_pat_[A-Za-z0-9_]{20,400}"
    r"|xox[abprs]-[A-Za-z0-9-]{10,400}|AKIA[0-9A-Z]{16}|AIza[0-9A-Za-z_-]{30,400})"
    r"|(?<=[Bb]earer )[A-Za-z0-9._~+/=-]{16,4000}"
    r"|(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{10,2000}\.[A-Za-z0-9_-]{10,4000}\.[A-Za-z0-9_-]{5,2000}"
    r"|(?<=://)[^/\s:@]{1,200}:[^/\s@…]{1,200}(?=[@…])"  # …: it was cut
)
# Each of those contains one of these, which are found much faster.
_LOOKS_HINTS = ("sk-", "gh", "xox", "AKIA", "AIza", "earer ", "eyJ", "://")
_BEGIN, _END = "-----BEGIN ", "-----END "
_LAST_NAME = re.compile(r"""(?:\A|\.|\[|\.get\()['"]?([\w-]+)['"]?[\])]?(?:\[\d+\])*\Z""")
# Names that a secret and something harmless may have: what they hold decides.
_VAGUE_NAME = re.compile(
    r"(?:[\w-]*[-_])?(?:token|pwd|pw|auth|dsn|signing_key|salt)", re.IGNORECASE
)
_VAGUE_ENTRY = re.compile(
    r"""(?<![A-Za-z0-9])["']?(?:token|pwd|dsn)["']?(?:: ?|=)["'](?P<value>[^"'\s]{8,400})["']"""
)
_RANDOM = re.compile(r"""b?["'](?=[^"']*[0-9])(?=[^"']*[A-Za-z])[^"'\s]{6,}["']""")
# Of a secret these are told: how many, how long, where, of which kind.
_HARMLESS_NAME = re.compile(
    r"(?:has|is|num|n|max|min|hide|show|use|uses|check|no|with|without)_.*"
    r"|.*_(?:count|counts|length|len|size|limit|type|name|names|field|fields|url|uri|path|file"
    r"|index|policy|manager|class|prompt|pattern|regex|required|expires|ttl|age|error|errors)",
    re.IGNORECASE,
)
# A function, a class or a module is no secret, nor is nothing, yes or no.
_HARMLESS_VALUE = re.compile(
    r"""(?:None|True|False|''|""|b''|\[\]|\(\)|\{\}|set\(\))\Z"""
    r"|<(?:function|class|module|bound method|built-in|method|property|re\.|hidden)"
)


def is_secret_name(name: str) -> bool:
    """Whether the value of this name is a secret, whatever it is."""
    return _NAME.fullmatch(name[:200]) is not None


def is_secret(name: str, value: str) -> bool:
    """Whether a variable is a secret, by its name and the text of its value."""
    if _HARMLESS_VALUE.match(value):
        return False
    last = _find_last_name(name)
    if _NAME.fullmatch(last):
        return not _HARMLESS_NAME.fullmatch(last)
    if _VAGUE_NAME.fullmatch(last):
        return _RANDOM.match(value) is not None
    return False


def _find_last_name(expression: str) -> str:
    """The name at the end of `a.b`, `a['b']`, `a.get('b')` or `b[0]`."""
    found = _LAST_NAME.search(expression) if len(expression) <= 200 else None
    return found[1] if found is not None else ""


def hide_value(name: str, value: str) -> str:
    """The text of a variable's value, without what must not be shown."""
    return HIDDEN if is_secret(name, value) else hide_secrets(value)


def hide_secrets(text: str) -> str:
    """A text without the secrets in it."""
    text = replace_secrets(text, HIDDEN)
    if "token" in text or "pwd" in text or "dsn" in text:
        text = _VAGUE_ENTRY.sub(_hide_entry, text)
    return text


def _hide_entry(found: re.Match[str]) -> str:
    value = found["value"]
    if HIDDEN in value or not (any(map(str.isdigit, value)) and any(map(str.isalpha, value))):
        return found.group()
    return found.group().replace(value, HIDDEN)


def replace_secrets(text: str, replacement: str) -> str:
    """A text with this in the place of each secret that can be told by its looks, or by a word
    before it."""
    clean = _remove_private_keys(text, replacement) if _BEGIN in text else text
    if any(hint in clean for hint in _LOOKS_HINTS):
        clean = _LOOKS.sub(_constant(replacement), clean)
    return _remove_named_values(clean, replacement)


def _constant(text: str) -> Callable[[re.Match[str]], str]:
    return lambda _found: text


def _remove_private_keys(text: str, replacement: str) -> str:
    """Private keys, from their beginning to their end, or to that of the text."""
    parts, at = [], 0
    while (begin := text.find(_BEGIN, at)) >= 0:
        line_end = text.find("-----", begin + len(_BEGIN))
        if line_end < 0 or "PRIVATE KEY" not in text[begin:line_end][:80]:
            parts.append(text[at : begin + len(_BEGIN)])
            at = begin + len(_BEGIN)
            continue
        parts += [text[at:begin], replacement]
        end = text.find(_END, line_end)
        at = len(text) if end < 0 else text.find("-----", end + len(_END))
        at = len(text) if at < 0 else min(len(text), at + 5)
    return "".join((*parts, text[at:]))


def _remove_named_values(text: str, replacement: str) -> str:
    low = text.lower() if text.isascii() else text.translate(_LOWER)  # both as long as the text
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
        if begin >= at and not text.startswith(replacement, begin):
            parts += [text[at:begin], replacement]
            at = end
    return "".join((*parts, text[at:]))
