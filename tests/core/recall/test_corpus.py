from __future__ import annotations

from collections import Counter
from pathlib import Path

from recall_corpus import questions, scripts, write

from hindnote.core.call import Dispatcher
from hindnote.core.plugins.hosts import Hosts
from hindnote.core.plugins.models import HostCall


def test_every_gold_event_is_in_the_sessions_as_the_hosts_decoders_read_them(
    tmp_path: Path,
) -> None:
    written = write(tmp_path)
    asked = {event for question in questions() for fact in question.facts for event in fact}
    assert asked - set(written.labels.values()) == set()
    texts = {
        (one.name, turn.label): turn.text for one in scripts() for turn in one.turns if turn.label
    }
    dispatcher = Dispatcher(Hosts.load(), tmp_path / "notes")
    for host, folder in (("pi", written.pi), ("claude", written.claude)):
        call = HostCall(host=host, cwd=tmp_path, config_dir=folder)
        for (session, seq), event in written.labels.items():
            if session.startswith(f"{host}:"):
                answer = dispatcher.call(call, "history_read", {"session": session, "seq": seq})
                said = str(answer.result["text"])
                assert said == texts[event] or said.startswith(f"call: {texts[event].split()[0]}")


def test_the_corpus_has_the_sessions_and_the_questions_that_it_says() -> None:
    hosts = Counter(script.host for script in scripts())
    assert sum(hosts.values()) >= 60 and min(hosts["pi"], hosts["claude"]) >= 25
    kinds = Counter(question.kind for question in questions())
    assert (
        sum(kinds[kind] for kind in ("same", "forms", "identifiers", "paraphrase", "two", "none"))
        == 200
    )
    assert min(kinds[kind] for kind in ("zh", "ja", "ko", "th", "de", "identifiers")) >= 10
