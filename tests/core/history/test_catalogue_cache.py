from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from hindnote import SessionEntry
from hindnote.core.history.catalogue_cache import MANY, entries
from hindnote.core.history.metadata_cache import FileFacts, Stamp


class File(NamedTuple):
    path: str
    stamp: Stamp


FILES = [File(f"/{number}", (number, 1, 1)) for number in range(MANY)]


class Looking:
    """Looks at files, and remembers at which; every third is no session."""

    def __init__(self) -> None:
        self.at: list[str] = []

    def __call__(self, file: File) -> SessionEntry | None:
        self.at.append(file.path)
        if file.stamp[0] % 3 == 0:
            return None
        return SessionEntry(host="pi", id=file.path, file=Path(file.path), added_words=("image",))


def test_what_was_looked_at_once_is_remembered_as_long_as_the_file_is_the_same(
    tmp_path: Path,
) -> None:
    first, second = Looking(), Looking()
    seen = entries(FILES, first, lambda: FileFacts("f", tmp_path))
    changed = [*FILES[1:], FILES[0]._replace(stamp=(1, 2, 3))]

    again = entries(changed, second, lambda: FileFacts("f", tmp_path))

    assert len(first.at) == MANY
    assert second.at == ["/0"]
    assert again[:-1] == seen[1:]
    assert again[-1] is not None


def test_few_files_are_looked_at_without_asking() -> None:
    def never() -> FileFacts:
        raise AssertionError

    looking = Looking()

    assert len(entries(FILES[1:], looking, never)) == len(looking.at) == MANY - 1


def test_facts_that_cannot_be_understood_are_found_out_again(tmp_path: Path) -> None:
    told = ['{"host":"pi","id":"x","file":"/x","more":1}', "{", '"text"', '{"host":"pi"}']
    facts = FileFacts("f", tmp_path)
    facts.store((file.path, file.stamp, told[n % 4]) for n, file in enumerate(FILES))
    looking = Looking()

    entries(FILES, looking, lambda: facts)

    assert len(looking.at) == MANY
    assert entries(FILES, Looking(), lambda: facts)[1] is not None
