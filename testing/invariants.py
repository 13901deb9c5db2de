"""Invariants of every session, checked without a writer.

Each function yields problems, one sentence each, saying how to fix them.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator
from itertools import chain

from msgspec.structs import replace

from hindnote.core.errors import Malformed
from hindnote.core.history.prefilter import CORE_WORDS
from hindnote.core.history.projection import (
    Branch,
    Projection,
    Scannable,
    SlotFacts,
    SlotKind,
    check_slots,
)
from hindnote.core.history.times import instant
from hindnote.core.plugins.models import SessionEntry
from hindnote.core.text import clean
from hindnote.core.text.messages import first_words

BACKWARDS = 3600.0
"""Seconds by which a slot may be older than one before it: clocks are set, rows arrive late."""

_HALVES = {SlotKind.CALL, SlotKind.RESULT}
_TOOLS = {*_HALVES, SlotKind.COMMAND}
_ANSWERED = {SlotKind.CALL, SlotKind.ASSISTANT}
_FREE = {SlotKind.NOTHING, *_ANSWERED}
_WORD = re.compile(r"[A-Za-z]{3,}")


def of_session(projection: Projection, *, ordered: bool = True) -> Iterator[str]:
    """Yield the problems of a decoded session: first of its arrays, then of each slot.

    Args:
        projection: The session.
        ordered: Whether its times must ascend; False for sessions with odd times on purpose.
    """
    wrong = list(_spine(projection))
    yield from wrong
    if wrong:
        # With wrong arrays nothing else can be checked.
        return
    branch = projection.branch
    yield from _answers(branch)
    latest = -math.inf
    for position, seq in enumerate(branch.seqs):
        facts = projection.facts(seq)
        yield from _slot(branch, position, facts)
        moment = instant(facts.created_at)
        if ordered and moment < latest - BACKWARDS:
            yield (
                f"seq {seq} was recorded {latest - moment:,.0f} seconds before a slot above it; "
                "give the slots of a branch in the order in which they were appended"
            )
        # In this order, because NaN is never greater.
        latest = max(latest, moment)
        if isinstance(projection, Scannable):
            yield from _promise(projection, seq, facts, branch.kinds[position])


def _spine(projection: Projection) -> Iterator[str]:
    branch = projection.branch
    try:
        check_slots(branch, 0, len(branch.seqs))
    except Malformed as error:
        yield f"the branch has {error}"
        return
    seqs, last = branch.seqs, projection.last_seq
    if seqs and seqs[-1] > last:
        yield f"the branch has seq {seqs[-1]}, but last_seq is {last}"
    windows = list(projection.windows)
    held = set(seqs)
    if strays := [seq for seq in windows[1:] if seq not in held]:
        yield (
            f"the windows start at {windows}, but the branch has no seq {strays[0]}; a window "
            "starts at the first of its slots on the branch"
        )
    for name, known, kinds in (
        ("call_ids", branch.call_ids, _HALVES),
        ("tools", branch.tools, _TOOLS),
    ):
        named = " or ".join(sorted(kind.name for kind in kinds))
        for position in known:
            if not 0 <= position < len(seqs):
                yield f"{name} names position {position}, and the branch has {len(seqs)} slots"
            elif branch.kinds[position] not in kinds:
                yield (
                    f"{name} names position {position}, seq {seqs[position]}, which is no {named}; "
                    "its keys are positions in the arrays, not seqs"
                )
    if strays := sorted(set(branch.aborted) - held):
        yield f"aborted names the seq {strays[0]}, which is not on the branch"


def _answers(branch: Branch) -> Iterator[str]:
    latest = 0
    for seq, kind, answer in zip(branch.seqs, branch.kinds, branch.answers, strict=True):
        if kind in _ANSWERED and answer < 1:
            yield f"seq {seq} is of an answer of the model, and `answers` has {answer} there"
        elif kind not in _FREE and answer:
            yield f"seq {seq} is of no answer of the model, but `answers` has {answer}, not 0"
        elif answer and not latest <= answer <= latest + 1:
            yield (
                f"seq {seq} is of answer {answer}, after answer {latest}; number the answers from "
                "1 in the order of the branch"
            )
        latest = max(latest, answer)


def _slot(branch: Branch, position: int, facts: SlotFacts) -> Iterator[str]:
    seq, kind = branch.seqs[position], SlotKind(branch.kinds[position])
    for text in (facts.text, facts.tool or "", facts.arguments or ""):
        if text != clean(text):
            yield f"seq {seq} holds a lone surrogate; replace it by U+FFFD"
    if kind is SlotKind.RESULT and branch.closing[position]:
        yield (
            f"the result at seq {seq} is `closing`; calls made beside it may still run, so only "
            "what was said afterwards closes"
        )
    yield from _time(branch, position, facts)
    named = branch.tools.get(position)
    if named is not None and facts.tool is not None and named != facts.tool:
        yield f"seq {seq} is of the tool {named!r} in `tools`, and of {facts.tool!r} in its facts"
    if kind is SlotKind.CALL:
        if not (facts.tool or named):
            yield f"the call at seq {seq} has no tool name"
        yield from _arguments(seq, facts.arguments)


def _time(branch: Branch, position: int, facts: SlotFacts) -> Iterator[str]:
    seq, recorded = branch.seqs[position], facts.created_at
    moment = instant(recorded)
    if recorded is not None and math.isnan(moment):
        yield (
            f"seq {seq}: created_at {recorded!r} is no ISO 8601 time; give None when nothing "
            "usable was recorded"
        )
    if not branch.times:
        return
    held = branch.times[position]
    if held != moment and not (math.isnan(held) and math.isnan(moment)):
        yield (
            f"seq {seq} has {held} in `times`, and its created_at {recorded!r} is {moment}; fill "
            "`times` with instant(created_at)"
        )


def _arguments(seq: int, arguments: str | None) -> Iterator[str]:
    if arguments is None:
        yield f"the call at seq {seq} has no arguments"
        return
    try:
        sound = isinstance(json.loads(arguments), dict)
    except ValueError:
        sound = False
    if not sound:
        yield (
            f"seq {seq}: arguments {arguments[:200]!r} is no JSON object; print the call's input "
            "as the host recorded it"
        )
    if "\n" in arguments:
        yield f"seq {seq}: arguments take more than one line; print them as compact JSON"


# -- words for a search --------------------------------------------------------


def _promise(session: Scannable, seq: int, facts: SlotFacts, kind: int) -> Iterator[str]:
    lines = b"\n".join(session.raw(seq))
    if kind == SlotKind.RESULT:
        # Excludes the name: a search also reads the lines of the call, which contain it.
        facts = replace(facts, tool=None)
    if missing := unpromised(_texts(facts), lines, session.added_words):
        yield (
            f"seq {seq} holds {missing!r}, which stands neither in its lines, as `raw` gives them, "
            "nor in `added_words`; a search would miss it"
        )


def of_entry(entry: SessionEntry, projection: Projection) -> Iterator[str]:
    """Yield the facts on which a catalogue and the session itself disagree."""
    header = projection.header
    if entry.id != header.session_id:
        yield (
            f"the session listed as {entry.id!r} calls itself {header.session_id!r}; "
            "list a session under the id of its own record"
        )
    for fact in ("started", "cwd", "parent", "name"):
        listed, recorded = getattr(entry, fact), getattr(header, fact)
        if listed != recorded:
            yield (
                f"the session {entry.id!r} is listed with {fact} {listed!r}, and its header says "
                f"{recorded!r}; let one function read them for both, since a search leaves out "
                "sessions by what the catalogue says"
            )
    if entry.prompt is not None and entry.prompt != first_words(entry.prompt):
        yield (
            f"the session {entry.id!r} is listed with the prompt {entry.prompt[:80]!r}, which is "
            "longer than a list shows or has several lines; give its first words"
        )
    if entry.prompt is not None and not _was_said(entry.prompt, projection):
        yield (
            f"the session {entry.id!r} is listed with the prompt {entry.prompt[:80]!r}, which "
            "stands in no event of a person; give the first prompt of the file, or None"
        )
    if entry.parent == entry.id:
        yield f"the session {entry.id!r} is its own parent; give None when it was not forked"
    if entry.file.is_file():
        yield from _file(entry)
        if entry.added_words is not None:
            yield from _ruled_out(entry, projection)


def _was_said(prompt: str, projection: Projection) -> bool:
    """Return whether a person's event holds these words: images may be named before them.

    The first prompt of a file may also lie on a branch that the session has left.
    """
    branch = projection.branch
    if len(branch.seqs) < projection.last_seq:
        return True
    said = (
        projection.facts(seq).text
        for seq, kind in zip(branch.seqs, branch.kinds, strict=True)
        if kind == SlotKind.USER
    )
    words = prompt.removesuffix("…")
    return any(words in " ".join(text.split()) for text in said)


def _file(entry: SessionEntry) -> Iterator[str]:
    status = entry.file.stat()
    if entry.size != status.st_size:
        yield (
            f"the session {entry.id!r} is listed with {entry.size} bytes, and its file has "
            f"{status.st_size}; a search takes what is known of a session by size and time"
        )
    if abs(entry.modified - status.st_mtime) > 1:
        yield (
            f"the session {entry.id!r} is listed as modified at {entry.modified}, and its file was "
            f"at {status.st_mtime}"
        )


def _ruled_out(entry: SessionEntry, projection: Projection) -> Iterator[str]:
    """Yield a word with which a search would skip the session, although it contains the word."""
    texts = (_texts(projection.facts(seq)) for seq in projection.branch.seqs)
    missing = unpromised(
        chain.from_iterable(texts), entry.file.read_bytes(), entry.added_words or ()
    )
    if missing:
        yield (
            f"the session {entry.id!r} holds {missing!r}, which stands neither in its file nor in "
            "the entry's `added_words`; a search would pass over the session"
        )


def _texts(facts: SlotFacts) -> Iterator[str]:
    yield from (facts.text, facts.tool or "", facts.arguments or "", facts.full_output_path or "")
    if facts.nested is not None:
        yield from (*facts.nested.records, *facts.nested.names)


def unpromised(texts: Iterable[str], data: bytes, added: Iterable[str]) -> str | None:
    """Return a word of the texts that is neither in the bytes nor among the added words.

    None when the bytes contain escaped letters, which a search treats as a possible match.
    """
    lowered, words = data.lower(), " ".join((*CORE_WORDS, *added))
    if b"\\u" in lowered:
        return None
    seen: set[str] = set()
    for text in texts:
        for word in _WORD.findall(text):
            letters = word.lower()
            if word not in seen and letters.encode() not in lowered and letters not in words:
                return str(word)
            seen.add(word)
    return None
