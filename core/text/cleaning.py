"""Make strings encodable.

A lone surrogate cannot be encoded as UTF-8, so in every incoming text each one is replaced by one
U+FFFD.
"""

from __future__ import annotations

import re
from typing import Any

_SURROGATES = "[\ud800-\udfff]"


def clean(text: str) -> str:
    """Return ``text`` with each lone surrogate replaced by U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return re.sub(_SURROGATES, "\ufffd", text)
    return text


def clean_json(value: Any) -> Any:
    """Return JSON-like data with every string in it cleaned, including keys."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean_json(key): clean_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [clean_json(item) for item in value]
    return value
