from __future__ import annotations

from pathlib import Path

import pytest

from hindnote import SessionEntry
from hindnote.core.history.catalogue_cache import MANY, ListedFile, entries
from hindnote.core.history.metadata_cache import FileFacts


@pytest.fixture
def files(tmp_path: Path) -> list[ListedFile]:
    """Files of 0, 1, 2, … bytes."""
    found = []
    for number in range(MANY):
        path = tmp_path / str(number)
        path.write_bytes(b"x" * number)
        found.append(ListedFile(str(tmp_path), path.name, path.stat()))
    return found


class Looking:
    """Looks at files, and remembers at which; every third is no session."""

    def __init__(self) -> None:
        self.at: list[str] = []

    def __call__(self, path: Path, file: ListedFile) -> SessionEntry | None:
        self.at.append(file.path)
        if file.stamp[0] % 3 == 0:
            return None
        return SessionEntry(host="pi", id=file.path, file=path, added_words=("image",))


def test_what_was_looked_at_once_is_remembered_as_long_as_the_file_is_the_same(
    files: list[ListedFile], tmp_path: Path
) -> None:
    first, second = Looking(), Looking()
    seen = entries(files, first, lambda: FileFacts("f", tmp_path / "cache"))
    (tmp_path / "0").write_bytes(b"x")
    changed = [*files[1:], files[0]._replace(status=(tmp_path / "0").stat())]

    again = entries(changed, second, lambda: FileFacts("f", tmp_path / "cache"))

    assert len(first.at) == MANY
    assert second.at == [f"{tmp_path}/0"]
    assert again[:-1] == seen[1:]
    assert again[-1] is not None


def test_few_files_are_looked_at_without_asking(files: list[ListedFile]) -> None:
    def never() -> FileFacts:
        raise AssertionError

    looking = Looking()

    assert len(entries(files[1:], looking, never)) == len(looking.at) == MANY - 1


def test_facts_that_cannot_be_understood_are_found_out_again(
    files: list[ListedFile], tmp_path: Path
) -> None:
    told = ['{"host":"pi","id":"x","file":"/x","more":1}', "{", '"text"', '{"host":"pi"}']
    facts = FileFacts("f", tmp_path / "cache")
    facts.store((each.path, each.stamp, told[n % 4]) for n, each in enumerate(files))
    looking = Looking()

    entries(files, looking, lambda: facts)

    assert len(looking.at) == MANY
    assert entries(files, Looking(), lambda: facts)[1] is not None
