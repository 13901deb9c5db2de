from __future__ import annotations

import pytest

from hindnote.core.install.lasting import vanishing


@pytest.fixture(autouse=True)
def _usual(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UV_CACHE_DIR", raising=False)


@pytest.mark.parametrize(
    ("python", "told"),
    # Where uvx 0.13.8 and pipx 1.18.4 put them, and an older pipx.
    [
        ("/home/a/.cache/uv/archive-v0/5v57KAcb2biv6m1y/bin/python", "uv's cache"),
        ("/home/a/.cache/uv/environments-v2/5v57KAcb2biv6m1y/bin/python", "uv's cache"),
        ("/home/a/.cache/pipx/e64fb52c2317198/bin/python", "pipx's cache"),
        ("/Users/a/Library/Caches/pipx/e64fb52c2317198/bin/python", "pipx's cache"),
        ("/home/a/.local/pipx/.cache/e64fb52c2317198/bin/python", "pipx's cache"),
    ],
)
def test_an_environment_that_vanishes_is_known_by_its_place(python: str, told: str) -> None:
    assert told in (vanishing(python) or "")


@pytest.mark.parametrize(
    "python",
    [
        "/home/a/.local/share/uv/tools/hindnote/bin/python",
        "/home/a/.local/share/pipx/venvs/hindnote/bin/python",
        "/home/a/.cache/pypoetry/virtualenvs/x/bin/python",
        "/home/a/work/.venv/bin/python",
        "/home/tmp/venv/bin/python",
        "/usr/bin/python3",
    ],
)
def test_an_environment_that_lasts_is_let_be(python: str) -> None:
    assert vanishing(python) is None


def test_the_cache_that_a_variable_names_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_CACHE_DIR", "/fast/cache")
    assert "uv's cache" in (vanishing("/fast/cache/x/bin/python") or "")
