"""Replace in a session what looks like secrets, and the paths of people's homes.

The rules are all those of detect-secrets, and a few more: for keys of model providers, and for
shell variables that are named like secrets. A secret that one rule finds is replaced everywhere in
the session.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from hindnote.core.history.projection import Presentable, Sided, SlotFacts
from hindnote.core.presentation.models import rebuilt
from hindnote.core.text import clean_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hindnote.core.history.projection import (
        Branch,
        Damage,
        Projection,
        SessionHeader,
        SlotKind,
    )
    from hindnote.core.presentation.models import Presentation

LONG = 8
"""Minimum length of a secret that is replaced in all texts; a shorter one is replaced only in its
own line."""

LINE_LIMIT = 20_000
"""Maximum number of characters that are searched at once, because some rules take more than linear
time."""

_KEYS = (
    (
        "Key of a model provider",
        re.compile(r"\b(?:sk-(?:ant|proj|or)-|xai-|gsk_|hf_|AIza)[\w-]{16,}"),
    ),
    (
        "Secret variable",
        re.compile(
            r"\b\w*(?:SECRET|TOKEN|PASSWORD|PASSWD|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY)\w*"
            r"\s*[=:]\s*[\"']?([^\s\"'$({<][^\s\"']{5,})"
        ),
    ),
    ("Authorization header", re.compile(r"\b(?:[Bb]earer|[Bb]asic) +([\w+/=.~-]{16,})")),
)
_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*-----|\Z)", re.DOTALL
)
_HOMES = re.compile(r"(?:/home|/Users|[A-Za-z]:\\Users)[/\\][^/\\\s\"'<>:|,;)\]}]+")
_WORD = re.compile(r"[^\s\"'`<>(){}\[\],;]+")


class Redactor:
    """Replaces what looks like secrets, and remembers what it replaced.

    Raises:
        ImportError: detect-secrets is not installed.
    """

    def __init__(self) -> None:
        from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class

        rules: Any = get_mapping_from_secret_type_to_class()
        self._rules = [rule() for rule in rules.values()]
        self.places: dict[str, set[int]] = {}
        """Seqs of the events in which each kind of secret was replaced; 0 for a text outside of
        events."""

        self.homes: set[str] = set()
        """The homes whose paths were replaced."""

        self.seq = 0
        """The event whose texts are being replaced."""

        self._known: dict[str, str] = {}
        self._pattern: re.Pattern[str] | None = None
        self._home = _own_home()

    def learn(self, text: str) -> None:
        """Remember the secrets of a text, in order to replace them in other texts too."""
        for line in _lines(text):
            for kind, secret in self._secrets(line):
                if len(secret) >= LONG and secret not in self._known:
                    self._known[secret] = kind
                    self._pattern = None

    def text(self, text: str) -> str:
        """Return a text with its secrets and home paths replaced."""
        if not text:
            return text
        text = _PRIVATE_KEY.sub(lambda found: self._mark("Private Key"), text)
        known = self._all_known()
        if known is not None:
            text = known.sub(lambda found: self._mark(self._known[found.group()]), text)
        text = "\n".join(map(self._line, text.split("\n")))
        if self._home is not None:
            text = self._home.sub(self._homeless, text)
        return _HOMES.sub(self._homeless, text)

    def value(self, value: Any) -> Any:
        """Return JSON-like data with every text in it replaced."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {key: self.value(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(item) for item in value]
        return value

    def _homeless(self, found: re.Match[str]) -> str:
        self.homes.add(found.group())
        return "~"

    def _mark(self, kind: str) -> str:
        self.places.setdefault(kind, set()).add(self.seq)
        return f"[redacted: {kind}]"

    def _line(self, line: str) -> str:
        for kind, secret in list(self._secrets(line)):
            if secret in line and "[redacted:" not in secret:
                line = line.replace(secret, self._mark(kind))
        return line

    def _secrets(self, line: str) -> Iterator[tuple[str, str]]:
        """Yield the kind and the text of each secret in a line."""
        if len(line) < LONG - 2:
            return
        for kind, pattern in _KEYS:
            for found in pattern.finditer(line):
                yield kind, found.group(found.lastindex or 0)
        for rule in self._rules:
            for part in _parts(line):
                for secret in rule.analyze_line(filename="", line=part, line_number=1):
                    if secret.secret_value:
                        yield secret.type, _whole(part, secret.secret_value)

    def _all_known(self) -> re.Pattern[str] | None:
        if self._pattern is None and self._known:
            # The longest first: a secret may be the beginning of another one.
            longest = sorted(self._known, key=len, reverse=True)
            self._pattern = re.compile("|".join(map(re.escape, longest)))
        return self._pattern


def _lines(text: str) -> Iterable[str]:
    return text.split("\n")


def _parts(line: str) -> Iterator[str]:
    for start in range(0, len(line), LINE_LIMIT):
        yield line[start : start + LINE_LIMIT]


def _whole(line: str, secret: str) -> str:
    """Return the whole word that begins with a secret. Some rules report only its beginning."""
    if len(secret) >= LONG:
        return secret
    words = (word.group() for word in _WORD.finditer(line))
    return next((word for word in words if secret in word), secret)


def _own_home() -> re.Pattern[str] | None:
    home = str(Path.home())
    if len(home) < 2:
        return None
    # Claude Code names folders after paths, with hyphens in place of slashes.
    names = "|".join(map(re.escape, (home, home.replace("/", "-"))))
    return re.compile(f"(?:{names})(?![\\w.])")


class Redacted:
    """A session in which a redactor has replaced every text.

    Args:
        session: The session. All of it is read once to find its secrets.
        redactor: Replaces them.
    """

    def __init__(self, session: Projection, redactor: Redactor) -> None:
        self._session = session
        self._redactor = redactor
        for seq in session.branch.seqs:
            for text in _texts(session.facts(seq)):
                redactor.learn(text)
        header = session.header
        clean = redactor.text
        self.header: SessionHeader = replace(
            header,
            cwd=clean(header.cwd) if header.cwd else None,
            name=clean(header.name) if header.name else None,
            note=clean(header.note) if header.note else None,
        )
        self.branch: Branch = session.branch
        self.last_seq: int = session.last_seq
        self.damaged: Sequence[Damage] = session.damaged
        self.windows: Sequence[int] = session.windows

    def facts(self, seq: int) -> SlotFacts:
        """Return the facts of a slot, with their texts replaced."""
        self._redactor.seq = seq
        facts, text = self._session.facts(seq), self._redactor.text
        nested = facts.nested
        return replace(
            facts,
            text=text(facts.text),
            tool=text(facts.tool) if facts.tool else facts.tool,
            arguments=None if facts.arguments is None else self._arguments(facts.arguments),
            full_output_path=text(facts.full_output_path) if facts.full_output_path else None,
            nested=nested and replace(nested, records=tuple(map(text, nested.records))),
        )

    def _arguments(self, arguments: str) -> str:
        try:
            value = json.loads(arguments)
        except (ValueError, RecursionError):
            return self._redactor.text(arguments)
        told = self._redactor.value(value)
        return json.dumps(clean_json(told), ensure_ascii=False, separators=(",", ":"))

    def kind_at(self, seq: int) -> SlotKind | None:
        """Return the kind of the slot at a seq of any branch."""
        return self._session.kind_at(seq) if isinstance(self._session, Sided) else None

    def presentation(self, seq: int, result: int | None) -> Presentation | None:
        """Return the presentation of a tool event, with its texts replaced."""
        if not isinstance(self._session, Presentable):
            return None
        shown = self._session.presentation(seq, result)
        if shown is None:
            return None
        fields = shown.model_dump()
        kept = {"kind": fields["kind"]}
        changed: Callable[[Any], Any] = self._redactor.value
        values = {name: changed(value) for name, value in fields.items()}
        return rebuilt(type(shown).model_validate({**values, **kept}))


def _texts(facts: SlotFacts) -> Iterator[str]:
    yield facts.text
    if facts.arguments is not None:
        yield facts.arguments
    if facts.nested is not None:
        yield from facts.nested.records
