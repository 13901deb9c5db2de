"""Who may import whom, read from the sources and tried at run time."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import hindnote

ROOT = Path(hindnote.__file__).parent
CORE = sorted(path for path in (ROOT / "core").rglob("*.py"))
KIT = sorted((ROOT / "testing").rglob("*.py"))
SOURCES = [
    *CORE,
    *KIT,
    *(ROOT / "hosts").rglob("*.py"),
    ROOT / "hookspecs.py",
    ROOT / "__init__.py",
]
HOSTS = sorted(path.parent.name for path in (ROOT / "hosts").glob("*/plugin.py"))


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(("hindnote", *(part for part in parts if part != "__init__")))


@cache
def imports_of(path: Path) -> frozenset[str]:
    """Return the modules that a file imports, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            module = node.module or ""
            found |= {module, *(f"{module}.{alias.name}" for alias in node.names)}
    return frozenset(found)


@pytest.mark.parametrize("path", [*CORE, *KIT], ids=lambda path: str(path.relative_to(ROOT)))
def test_the_core_never_imports_a_host(path: Path) -> None:
    assert [name for name in imports_of(path) if name.startswith("hindnote.hosts")] == []


@pytest.mark.parametrize("path", CORE, ids=lambda path: str(path.relative_to(ROOT)))
def test_click_and_rich_are_for_the_command_line_alone(path: Path) -> None:
    if path.is_relative_to(ROOT / "core" / "cli") or path.parent.name == "commands":
        return
    # What a model or a page looks like on a terminal stands beside the model.
    if path.name == "terminal.py":
        return
    assert {name.partition(".")[0] for name in imports_of(path)} & {"click", "rich"} == set()


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_web_framework_is_for_the_pages_alone(path: Path) -> None:
    if path.is_relative_to(ROOT / "core" / "browse"):
        return
    web = {"jinja2", "markupsafe", "starlette", "uvicorn"}
    assert {name.partition(".")[0] for name in imports_of(path)} & web == set()


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_database_s_client_is_for_database_homes_alone(path: Path) -> None:
    if path.is_relative_to(ROOT / "core" / "database"):
        return
    # It asks whether the client is installed.
    if path == ROOT / "core" / "places" / "database_home.py":
        return
    assert "psycopg" not in {name.partition(".")[0] for name in imports_of(path)}


@pytest.mark.parametrize("host", HOSTS)
def test_a_host_never_imports_another(host: str) -> None:
    others = {*HOSTS} - {host}
    for path in (ROOT / "hosts" / host).rglob("*.py"):
        for other in others:
            foreign = f"hindnote.hosts.{other}"
            assert [name for name in imports_of(path) if name.startswith(foreign)] == [], path


@pytest.mark.parametrize("area", ["history", "notes", "project"])
def test_an_area_of_the_core_never_imports_another(area: str) -> None:
    others = tuple(f"hindnote.core.{name}." for name in {"history", "notes", "project"} - {area})
    for path in (ROOT / "core" / area).rglob("*.py"):
        assert [name for name in imports_of(path) if f"{name}.".startswith(others)] == [], path


@pytest.mark.parametrize("area", ["history", "notes"])
def test_what_lies_below_the_operations_of_an_area_never_imports_them(area: str) -> None:
    operations = f"hindnote.core.{area}.operations"
    for path in (ROOT / "core" / area).glob("*.py"):
        assert [name for name in imports_of(path) if name.startswith(operations)] == [], path


def test_what_opens_files_knows_nothing_of_what_is_in_them() -> None:
    for path in (ROOT / "core" / "fs").rglob("*.py"):
        ours = {name for name in imports_of(path) if name.startswith("hindnote")}
        assert [name for name in ours if not name.startswith("hindnote.core.fs")] == [], path


def test_the_lines_of_a_host_are_decoded_below_its_format_alone() -> None:
    calls = {"msgspec.json.Decoder", "msgspec.json.decode", "json.loads"}
    decoding = {
        f"hindnote.core.history.jsontext.{name}"
        for name in ("accepted", "decoded_by", "shaped", "mend")
    }
    for path in (ROOT / "hosts").glob("*/sessions/**/*.py"):
        tree = ast.parse(path.read_bytes())
        assert {ast.unparse(node) for node in ast.walk(tree)} & calls == set(), path
        assert imports_of(path) & decoding == set(), path


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Neither late, inside a function, nor for types alone."""
    files = {module_of(path): path for path in SOURCES}
    left = {name: imports_of(path) & files.keys() - {name} for name, path in files.items()}
    # What imports nothing that is left, or is imported by nothing that is left, is in no circle.
    while outside := {
        name
        for name, imported in left.items()
        if not imported & left.keys() or not any(name in others for others in left.values())
    }:
        left = {name: imported for name, imported in left.items() if name not in outside}

    assert left == {}


def test_only_the_plugin_managers_touch_pluggy() -> None:
    users = {module_of(path) for path in CORE if "pluggy" in imports_of(path)}

    assert users <= {
        "hindnote.core.plugins.rules",
        "hindnote.core.plugins.loading",
        # The project tools' profiles have a manager of their own.
        "hindnote.core.project.documents.profiles",
    }


def test_only_public_names_of_pluggy_are_used() -> None:
    import pluggy

    for path in [*CORE, ROOT / "hookspecs.py"]:
        used = {name for name in imports_of(path) if name.startswith("pluggy.")}
        assert used <= {f"pluggy.{name}" for name in pluggy.__all__}, path


def at_run_time(code: str) -> set[str]:
    """Return the modules that are loaded after ``code`` ran in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print('\\n'.join(sys.modules))"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return set(done.stdout.split())


def test_importing_the_whole_core_loads_no_host() -> None:
    names = [module_of(path) for path in CORE if path.name != "__main__.py"]
    loaded = at_run_time("\n".join(f"import {name}" for name in names))

    assert {name for name in loaded if name.startswith("hindnote.hosts")} == set()


def test_importing_the_package_is_light() -> None:
    loaded = at_run_time("import hindnote")

    assert loaded & {"pydantic", "pluggy", "click", "rich", "ruamel", "sqlite3", "msgspec"} == set()
    assert {name for name in loaded if name.startswith("hindnote.")} == set()


ONE_CALL = """
from pathlib import Path
from hindnote.core.plugins.models import HostCall
from hindnote.core.call import Dispatcher
from hindnote.core.plugins.hosts import Hosts
from hindnote.hosts.{host} import plugin

folder = Path({folder!r})
call = HostCall(host="{host}", cwd=folder, config_dir=folder)
dispatcher = Dispatcher(Hosts.load({{"{host}": plugin}}), folder / "notes")
answer = dispatcher.call(call, "notes_read", {{"address": "@human/absent"}})
assert answer.result["code"] == "not_found", answer
"""


@pytest.mark.parametrize(("host", "other"), [("pi", "claude"), ("claude", "pi")])
def test_a_notes_call_in_one_host_s_process_loads_what_it_needs_alone(
    host: str, other: str, tmp_path: Path
) -> None:
    loaded = at_run_time(ONE_CALL.format(host=host, folder=str(tmp_path)))

    assert loaded & {"click", "rich", "pathspec", "psycopg", "ruamel.yaml"} == set()
    assert {name for name in loaded if name.startswith("hindnote.core.database")} == set()
    assert {name for name in loaded if name.startswith(f"hindnote.hosts.{other}")} == set()
    assert {name for name in loaded if name.startswith("hindnote.core.cli")} == set()


@pytest.mark.parametrize(
    ("block", "handed_over"), [("origin: user", False), ("tags: [a, *x]", True), ("a: >\n b", True)]
)
def test_what_reads_yaml_is_loaded_for_a_block_that_needs_it_alone(
    block: str, handed_over: bool, tmp_path: Path
) -> None:
    note = tmp_path / "notes" / "human" / "absent.md"
    note.parent.mkdir(parents=True)
    note.write_text(f"---\n{block}\n---\nbody\n")
    code = ONE_CALL.format(host="pi", folder=str(tmp_path)).replace(
        'answer.result["code"] == "not_found"', 'answer.result["text"].endswith("body\\n")'
    )

    loaded = at_run_time(code)

    needed = {"frontmatter", "ruamel.yaml"}
    assert loaded & needed == (needed if handed_over else set())


ONE_SHOT = """
import io, json, os, sys
from hindnote.core.system import process
process.begin()
from hindnote.hosts.claude.helper import one_shot

os.environ["HINDNOTE_HOME"] = {folder!r}
request = {{"kind": "call", "operation": "notes_read", "arguments": {{"address": "@human/plan"}}}}
body = json.dumps(request | {{"call": {{"cwd": "/"}}}}).encode()
assert one_shot(io.BytesIO(body), io.BytesIO()) == 0
"""

DATACLASSES = """
import dataclasses, inspect
for name, module in list(sys.modules.items()):
    for value in vars(module).values() if name.startswith("hindnote") else ():
        if inspect.isclass(value) and dataclasses.is_dataclass(value):
            print("dataclass:", value.__name__)
"""


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    note = tmp_path / "human" / "plan.md"
    note.parent.mkdir()
    note.write_text("---\norigin: user\n---\nShip it.\n")
    return tmp_path


def test_a_single_read_loads_no_more_than_it_needs(plan: Path) -> None:
    """Each of these takes from two to thirty milliseconds of each single call."""
    loaded = at_run_time(ONE_SHOT.format(folder=str(plan)))

    assert loaded & {
        "asyncio", "click", "concurrent.futures", "difflib", "html", "http", "logging",
        "multiprocessing", "pathspec", "rich", "ruamel.yaml", "ssl", "subprocess", "yaml",
    } == set()  # fmt: skip
    assert {name for name in loaded if name.startswith("hindnote.core.history")} == set()
    assert {name for name in loaded if name.startswith("hindnote.core.project.")} == set()
    others = {
        f"hindnote.core.notes.operations.{name}" for name in ("list", "search", "update", "write")
    }
    assert loaded & others == set()


def test_a_single_read_defines_no_dataclass(plan: Path) -> None:
    """Its methods are compiled from text, a millisecond for each; a struct takes a twentieth."""
    printed = at_run_time(ONE_SHOT.format(folder=str(plan)) + DATACLASSES)

    assert "hindnote.core.notes.operations.read" in printed
    assert "dataclass:" not in printed


def test_the_helpers_of_both_hosts_load_neither_click_nor_rich() -> None:
    loaded = at_run_time("import hindnote.hosts.pi.server, hindnote.hosts.claude.helper")

    assert loaded & {"click", "rich"} == set()


def test_every_public_name_can_be_imported() -> None:
    for name in hindnote.__all__:
        assert getattr(hindnote, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nope'"):
        _ = hindnote.nope


def test_the_public_names_are_sorted() -> None:
    assert sorted(hindnote.__all__) == hindnote.__all__
    assert set(hindnote.__all__) <= set(dir(hindnote))


@pytest.mark.parametrize("name", ["reader", "store", "renaming", "changes", "summary"])
def test_notes_reach_their_home_through_one_class(name: str) -> None:
    """So that a home which is no folder needs no other store."""
    imported = imports_of(ROOT / "core" / "notes" / f"{name}.py")
    files = {"os", "hindnote.core.fs.atomic", "hindnote.core.fs.handles", "hindnote.core.fs.locks"}
    below = {
        f"hindnote.core.notes.{part}" for part in ("tree", "catalogue", "locks", "read_counts")
    }

    assert imported & (files | below) == set()
