"""Sessions of a natural vocabulary: 60,000 words by Zipf's law, prose and tool output as real transcripts have them."""

from __future__ import annotations

import itertools
import json
import random
import uuid
from collections.abc import Iterator
from pathlib import Path

WORDS = 60_000
SENTENCES = 150_000
OUTPUTS = (400, 1_500, 3_000, 8_000, 25_000, 60_000)
PROJECTS, FILES = 40, 300
SYLLABLES = [one + two for one in "bcdfghklmnprstvw" for two in "aeio"]


class Language:
    """Makes sentences; always the same ones."""

    def __init__(self, seed: int = 7) -> None:
        draw = self.random = random.Random(seed)
        self.words = [
            "".join(draw.choices(SYLLABLES, k=draw.choice((1, 2, 2, 3, 3, 4)))) + str(n % 97 or "")
            if n % 11 == 10
            else "".join(draw.choices(SYLLABLES, k=draw.choice((2, 2, 3, 3, 4))))
            for n in range(WORDS)
        ]
        weights = itertools.accumulate(1 / (rank + 2.7) for rank in range(WORDS))
        drawn = draw.choices(self.words, cum_weights=list(weights), k=SENTENCES * 12)
        self.sentences = [
            " ".join(drawn[start : start + draw.randint(6, 12)]).capitalize() + "."
            for start in range(0, len(drawn) - 12, 12)
        ]

    def prose(self, chars: int) -> str:
        """Return about so many characters of prose."""
        return " ".join(self.random.choices(self.sentences, k=max(1, chars // 70)))

    def project(self, number: int) -> list[str]:
        """Return the paths of a project's files."""
        draw = random.Random(number)
        folders = draw.sample(self.words, k=12)
        return [
            f"src/{draw.choice(folders)}/{'_'.join(draw.choices(self.words, k=2))}.py"
            for _ in range(FILES)
        ]

    def output(self, chars: int, paths: list[str]) -> str:
        """Return about so many characters of a tool's output: numbered lines with paths."""
        lines = self.random.choices(self.sentences, k=max(1, chars // 95))
        named = self.random.choices(paths, k=len(lines))
        return "\n".join(
            f"{path}:{n}: {line}" for n, (path, line) in enumerate(zip(named, lines, strict=True))
        )


def rows(language: Language, number: int, size: int, folder: Path) -> Iterator[dict[str, object]]:
    """Yield the rows of one Claude Code transcript of about ``size`` bytes."""
    draw, written, n = language.random, 0, 0
    paths = language.project(number % PROJECTS)
    parent: str | None = None
    session = str(uuid.UUID(int=number + 1))
    while written < size:
        answer: list[dict[str, object]] = [
            {"type": "text", "text": language.prose(draw.choice((90, 300, 900)))}
        ]
        call = {"type": "tool_use", "id": f"toolu_{n}", "name": "Bash"}
        output = language.output(draw.choice(OUTPUTS), paths)
        turns = [
            (
                "assistant",
                {"id": f"msg_{n}a", "role": "assistant", "model": "m", "content": answer},
            ),
            (
                "assistant",
                {
                    "id": f"msg_{n}b",
                    "role": "assistant",
                    "model": "m",
                    "content": [{**call, "input": {"command": language.prose(120)}}],
                },
            ),
            (
                "user",
                {
                    "role": "user",
                    "content": [
                        {"type": "tool_result", "tool_use_id": call["id"], "content": output}
                    ],
                },
            ),
        ]
        if n % 3 == 0:
            turns.insert(0, ("user", {"role": "user", "content": language.prose(250)}))
        for kind, message in turns:
            me = str(uuid.UUID(int=(number + 1 << 40) + n))
            n += 1
            row = {
                "parentUuid": parent,
                "isSidechain": False,
                "type": kind,
                "uuid": me,
                "timestamp": f"2026-{number % 12 + 1:02}-{number % 28 + 1:02}T{n // 60 % 24:02}:{n % 60:02}:00.000Z",
                "sessionId": session,
                "cwd": str(folder),
                "version": "2.1.332",
                "message": message,
            }
            parent = me
            yield row
            written += len(output) if kind == "user" else 900


def write(folder: Path, sessions: int, size: int) -> int:
    """Write so many sessions of about ``size`` bytes under a Claude folder; return their bytes."""
    language, total = Language(), 0
    files = folder / "projects" / "-work"
    files.mkdir(parents=True)
    for number in range(sessions):
        file = files / f"{uuid.UUID(int=number + 1)}.jsonl"
        file.write_text(
            "".join(json.dumps(row) + "\n" for row in rows(language, number, size, folder))
        )
        total += file.stat().st_size
    return total
