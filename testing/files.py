"""Checks of a folder of real session files, without a writer.

Each file is decoded as its host would do it, decoded again while it grows line by line in a
scratch folder, and compared with the catalogue and with the results of the tools.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from hindnote.core.call import Dispatcher
from hindnote.core.errors import HostFailure, Refused
from hindnote.core.history.projection import Projection, Scannable
from hindnote.core.history.timeline import Timeline
from hindnote.core.plugins.hosts import Hosts
from hindnote.core.plugins.models import HostCall, SessionEntry
from hindnote.testing.bench import Session
from hindnote.testing.growth import Held, of_growth, of_rebuilding
from hindnote.testing.invariants import of_entry, of_session

STEPS = 12
"""Maximum number of states of a growing file that are checked."""

READ = 200
"""Maximum number of events of one session that are read in full and compared with the list."""

PACKED = (b"\x28\xb5\x2f\xfd", b"\x1f\x8b")
"""Magic bytes of compressed files (Zstandard, gzip), whose content is not rows."""

SHOWN = 3
"""Maximum number of problems reported per file, since one mistake affects many slots."""

Progress = Callable[[int, int, Path], None]


@dataclass
class Findings:
    """The results of checking a folder with one host."""

    read: set[Path] = field(default_factory=set)
    """Files that the host decodes as its sessions."""

    listed: int = 0
    """Number of these files in the host's catalogue."""

    problems: dict[Path, list[str]] = field(default_factory=dict)
    """The problems by file; those of the catalogue are under the folder itself."""

    refused: dict[Path, str] = field(default_factory=dict)
    """Files that the host refuses as not its sessions, with the reason."""

    passed_over: Counter[str] = field(default_factory=Counter)
    """Number of rows that are not an event of the active branch, by their type."""

    damaged: int = 0


def check_folder(hosts: Hosts, slug: str, folder: Path, progress: Progress) -> Findings:
    """Check each file in a folder that a host decodes as a session.

    Args:
        hosts: The host plugins.
        slug: The host to use.
        folder: The folder, absolute; nothing in it is changed.
        progress: Called before each file with its number, the number of files, and its path.
    """
    findings = Findings()
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    listed = _catalogue(hosts, slug, folder, files, findings)
    with tempfile.TemporaryDirectory(prefix="hindnote-check-") as scratch:
        for number, file in enumerate(files, 1):
            progress(number, len(files), file)
            checked = _Checked(hosts, _call(slug, folder, file), listed.get(file), Path(scratch))
            found = list(_first(checked.problems(findings), SHOWN))
            if found:
                findings.problems[file] = found
    return findings


def _call(slug: str, folder: Path, file: Path) -> HostCall:
    return HostCall(host=slug, cwd=folder, config_dir=folder, session_file=file)


def _first(problems: Iterator[str], limit: int) -> Iterator[str]:
    for _, problem in zip(range(limit), problems, strict=False):
        yield problem


def _catalogue(
    hosts: Hosts, slug: str, folder: Path, files: list[Path], findings: Findings
) -> dict[Path, SessionEntry]:
    """Return the host's catalogue of a folder, listed from each subfolder; checks its order."""
    found: dict[Path, SessionEntry] = {}
    wrong: list[str] = []
    for parent, file in {file.parent: file for file in files}.items():
        try:
            entries = list(hosts.sessions(_call(slug, folder, file), slug))
        except HostFailure as failure:
            wrong.append(str(failure))
            continue
        twice = [path for path, n in Counter(entry.file for entry in entries).items() if n > 1]
        if twice:
            wrong.append(f"{twice[0].name} is listed twice")
        for newer, older in pairwise(entries):
            if newer.modified < older.modified:
                wrong.append(
                    f"asked from {parent.name}, {newer.id!r} is listed before {older.id!r}, which "
                    "changed later; list the newest first"
                )
                break
        found.update({entry.file: entry for entry in entries})
    if wrong:
        findings.problems[folder] = wrong[:SHOWN]
    return found


@dataclass
class _Checked:
    """Checks one file as a session of a host."""

    hosts: Hosts
    call: HostCall
    entry: SessionEntry | None
    scratch: Path

    @property
    def file(self) -> Path:
        assert self.call.session_file is not None
        return self.call.session_file

    def problems(self, findings: Findings) -> Iterator[str]:
        """Yield the problems of the session; none when the file is not a session of the host."""
        try:
            projection = self._open(self.file)
            if projection is None:
                return
            findings.read.add(self.file)
            findings.listed += self.entry is not None
            findings.damaged += len(projection.damaged)
            yield from of_session(projection)
            if self.entry is not None:
                yield from of_entry(self.entry, projection)
            yield from self._rows(projection, findings)
            yield from self._reading(projection)
            yield from self._growth()
        except Refused as refused:
            findings.refused[self.file] = refused.refusal.message
        except HostFailure as failure:
            yield str(failure)

    def _open(self, file: Path) -> Projection | None:
        return self.hosts.current(self.call.model_copy(update={"session_file": file}))

    def _rows(self, projection: Projection, findings: Findings) -> Iterator[str]:
        """Yield the rows that are neither an event, nor valid JSON, nor counted as damaged."""
        data = self.file.read_bytes()
        if data.startswith(PACKED):
            return
        damaged = {damage.offset for damage in projection.damaged}
        events: set[bytes] = set()
        if isinstance(projection, Scannable):
            for seq in projection.branch.seqs:
                events.update(line.strip() for line in projection.raw(seq))
        for offset, line in _lines(data):
            if offset in damaged or line in events:
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                yield (
                    f"the row at byte {offset} is no JSON and no event, and `damaged` does not "
                    "list it; count what cannot be read"
                )
                continue
            if isinstance(projection, Scannable):
                findings.passed_over[_named(row)] += 1

    def _reading(self, projection: Projection) -> Iterator[str]:
        """Yield the differences between a list and a read."""
        session = Session(Dispatcher(self.hosts, self.scratch / "notes"), self.call)
        try:
            rows = session.rows(max_chars_per_item=12_000)
        except AssertionError as error:
            yield str(error)
            return
        timeline = Timeline(projection)
        wanted = [timeline.seq(at) for at in timeline.events(range(timeline.size))]
        if (found := [row["seq"] for row in rows]) != wanted:
            yield f"history_list delivers the seqs {found[:20]}, not {wanted[:20]}"
        for row in rows[:: max(1, len(rows) // READ)]:
            try:
                document = session.document(row["seq"])
            except AssertionError as error:
                yield str(error)
                continue
            total = row.get("total_chars", len(document))
            if not document.startswith(row["content"][:1000]) or total != len(document):
                yield (
                    f"seq {row['seq']} is listed as {row['content'][:80]!r} of {total} characters, "
                    f"and read as {document[:80]!r} of {len(document)}"
                )

    def _growth(self) -> Iterator[str]:
        """Yield what changes when the file is read while it grows."""
        data = self.file.read_bytes()
        ends = [offset + len(line) + 1 for offset, line in _lines(data)]
        # One state ends within a row, which is still being written.
        cuts = sorted({*ends[:: max(1, len(ends) // STEPS)], len(data) * 2 // 3, len(data)})
        grown, fresh = self._shadow("grown"), self._shadow("fresh")
        fresh.write_bytes(data)
        held: Held | None = None
        written = 0
        try:
            for cut in cuts:
                with grown.open("ab") as out:
                    out.write(data[written:cut])
                written = cut
                try:
                    projection = self._open(grown)
                except Refused:
                    # The first rows of a file may not yet show to which session it belongs.
                    continue
                if projection is None:
                    continue
                if held is not None:
                    yield from of_growth(held, projection)
                held = Held(projection)
            last, at_once = self._open(grown), self._open(fresh)
            if last is not None and at_once is not None:
                yield from of_rebuilding(last, at_once)
        finally:
            shutil.rmtree(self.scratch / "grown")
            shutil.rmtree(self.scratch / "fresh")

    def _shadow(self, name: str) -> Path:
        """Return the path for a copy of the file, linking the folder with the same name there."""
        folder = self.scratch / name
        copy = folder / self.file.relative_to(self.call.cwd)
        copy.parent.mkdir(parents=True)
        beside = self.file.with_suffix("")
        if beside.is_dir():
            copy.with_suffix("").symlink_to(beside)
        return copy


def _lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield offset and bytes of each complete, non-blank row."""
    offset = 0
    for line in data.split(b"\n")[:-1]:
        if line.strip():
            yield offset, line.strip()
        offset += len(line) + 1


def _named(row: object) -> str:
    """Return a description of a row's type."""
    if not isinstance(row, dict):
        return f"a {type(row).__name__}"
    kind, part = row.get("type"), row.get("subtype")
    if isinstance(kind, str):
        return f"{kind}/{part}" if isinstance(part, str) else kind
    return "{" + ", ".join(sorted(row)[:4]) + "}"
