from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hindnote.core.notes.summary import index


def test_the_index_holds_maps_and_freshest_notes_per_home(agent: Any) -> None:
    for number in range(5):
        agent.put(f"@project/n{number}", "é" * number, number)
    agent.put("@project/MAP", "---\ntitle: x\n---\n# Map\n")
    agent.put("@project/old", "---\narchivedAt: 2024-01-01\n---\nold")
    agent.put("@human/sub/MAP", "not the home's")

    homes = {home.name: home for home in index(agent.identity, agent.store.homes.project_key, 2)}

    assert list(homes) == ["session", "@project", "@human", "@self", "@model"]
    project = homes["@project"]
    assert project.map == "# Map\n"
    assert [(note.address, note.chars) for note in project.freshest] == [
        ("@project/n4.md", 4),
        ("@project/n3.md", 3),
    ]
    assert project.freshest[0].updated_ms == 1_700_000_004_000
    assert project.total == 6
    assert homes["@human"].map is None
    assert homes["session"].freshest == ()
    assert all(home.available for home in homes.values())


@pytest.mark.folder_home
def test_an_unavailable_home_is_named(agent: Any, tmp_path: Path) -> None:
    agent.put("@human/a", "x")
    (agent.home / "agents").symlink_to(tmp_path)

    homes = {home.name: home for home in index(agent.identity, "shop-0123abcd")}

    assert not homes["@self"].available
    assert homes["@human"].available


def test_an_archived_map_is_none(agent: Any) -> None:
    agent.put("@human/MAP", "---\narchivedAt: 2024-01-01\n---\nold")

    (human,) = (h for h in index(agent.identity, "shop-0123abcd") if h.name == "@human")

    assert human.map is None


def test_without_a_session_the_other_homes_are_there(agent: Any) -> None:
    from msgspec.structs import replace

    identity = replace(agent.identity, session_id=None)

    assert next(iter(index(identity, "shop-0123abcd"))).name == "@project"
