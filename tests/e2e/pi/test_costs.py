"""The tokens that hindnote costs with each request, as Pi sends it. ``-s`` prints the table."""

from __future__ import annotations

import sys

import pytest
from costs import Cost, cost, row
from model import ScriptedModel, Text, Turn
from pi_host import Pi

DONE = Turn(Text("done"))


def first_request(pi: Pi, model: ScriptedModel) -> int:
    """Run one prompt and return the place of its first request."""
    before = len(model.played)
    model.then(DONE)
    done = pi.say("hello")
    assert done.returncode == 0, done.stderr
    return before


def measured(pi: Pi, model: ScriptedModel, **settings: object) -> Cost:
    pi.settings(**settings)
    without = first_request(pi, model)
    installed = pi.hindnote("install", "pi")
    assert installed.returncode == 0, installed.stderr
    request = first_request(pi, model)
    return cost(model.played[without], model.played[request], pi.project)


@pytest.mark.parametrize(
    ("mode", "settings", "declared", "added"),
    [
        ("without codemode", {"defaultTools": ["-codemode"]}, 5_600, 6_900),
        ("with codemode", {}, 6_500, 8_000),
        ("with codemode alone", {"codemode": {"mode": "only"}}, 0, 9_500),
    ],
)
def test_what_a_session_in_pi_costs(
    bare_pi: Pi,
    model: ScriptedModel,
    mode: str,
    settings: dict[str, object],
    declared: int,
    added: int,
) -> None:
    found = measured(bare_pi, model, **settings)

    sys.stdout.write(f"\n{row(f'Pi, {mode}', found)}\n")
    assert found.declarations <= declared
    assert found.added <= added
    assert 0 < found.boot < 500
