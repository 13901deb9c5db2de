"""What each import inside a function earns: ``python tests/benchmarks/lazy_imports.py``.

An import inside a function spares a process the time of importing a module that it may not
need. For each such import, and for each kind of process that loads the module around it without
needing what it imports, this measures how long the import would take at the top. An import that
spares no process at least ``WORTHWHILE`` milliseconds belongs at the top of its module, unless
that would make a circle.

Three other ways to start later are measured for each kind of process too: operations that are
imported on first access, imports for type checkers alone, and docstrings of fields that are read
when a schema is made and not when its model is.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

WORTHWHILE = 0.5
"""Milliseconds."""

NOTE = """
request = {"kind": "call", "operation": "notes_read", "arguments": {"address": "@human/plan"}}
body = json.dumps(request | {"call": {"cwd": "/"}}).encode()
"""

ONE_CALL = """
from pathlib import Path
from hindnote.core.call import Dispatcher
from hindnote.core.plugins.hosts import Hosts
from hindnote.core.plugins.models import HostCall
from hindnote.hosts.pi import plugin
dispatcher = Dispatcher(Hosts.load({"pi": plugin}), Path("/nowhere"))
call = HostCall(host="pi", cwd=Path("/"), config_dir=Path("/nowhere"))
"""

STARTS = {
    "hindnote --version": "from hindnote.core.cli.app import make_app; make_app()",
    "hindnote sessions": "import hindnote.core.cli.sessions",
    "hindnote search": "import hindnote.core.cli.search",
    "hindnote todo list": "import hindnote.core.project.commands.todo",
    "one call of Claude Code": f"""
import io, json
{NOTE}
from hindnote.hosts.claude.helper import one_shot
one_shot(io.BytesIO(body), io.BytesIO())
""",
    "Claude Code's helper, until it listens": (
        "import hindnote.hosts.claude.helper, hindnote.hosts.claude.server"
    ),
    "Pi, until a call": "import hindnote.hosts.pi.server, hindnote.hosts.pi.plugin",
    "an MCP server, until a call": "from hindnote.hosts.mcp.command import mcp",
    "history_list": ONE_CALL + 'dispatcher.call(call, "history_list", {})',
    "notes_read": ONE_CALL + 'dispatcher.call(call, "notes_read", {"address": "@human/plan"})',
    "project_todo_list": ONE_CALL + 'dispatcher.project(call, "project_todo_list", {})',
}
"""Code that takes a process to the point at which it has to be quick."""

BEGIN = "from hindnote.core.system import process\nprocess.begin()\n"
LOADED = "\nimport json, sys\nsys.stderr.write('@' + json.dumps(sorted(sys.modules)))"
TIMED = """
import sys, time
started = time.perf_counter()
import {module}
sys.stderr.write('@' + str(time.perf_counter() - started))
"""

OTHERS = {
    "operations on first access": """
from hindnote.core.tools.registry import registry
work = lambda: list(registry().values())
""",
    "imports for types alone": """
from importlib import import_module
work = lambda: [import_module(name) for name in {types}]
""",
    "docstrings of fields": """
from hindnote.core.tools.field_docs import Described, field_docs
def work():
    waiting = [Described]
    while waiting:
        model = waiting.pop()
        field_docs(model)
        waiting += model.__subclasses__()
""",
}
"""Code that prepares, as ``work``, what a process would do at its start without one of them."""

WORKED = """
import sys, time
started = time.perf_counter()
work()
sys.stderr.write('@' + str(time.perf_counter() - started))
"""


def run(code: str, home: str) -> str:
    """Run a process and return what it wrote behind the mark."""
    environment = {**os.environ, "HINDNOTE_HOME": home}
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + code],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return done.stderr.rpartition("@")[2]


def lazy_imports() -> Iterator[tuple[str, int, str]]:
    """Yield the module, the line and the imported module of each import inside a function."""
    for folder in ("core", "hosts", "testing"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            module = "hindnote." + ".".join(path.relative_to(ROOT).with_suffix("").parts)
            module = module.removesuffix(".__init__")
            for function in ast.walk(ast.parse(path.read_bytes())):
                if not isinstance(function, ast.FunctionDef):
                    continue
                for node in ast.walk(function):
                    for name in _imported(node):
                        yield module, node.lineno, name  # type: ignore[attr-defined]


def type_imports(loaded: set[str]) -> list[str]:
    """Return the modules of ours that loaded modules import for type checkers alone."""
    found = set()
    for name in loaded:
        path = ROOT.joinpath(*name.split(".")[1:])
        file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        if not name.startswith("hindnote.") or not file.exists():
            continue
        for block in ast.walk(ast.parse(file.read_bytes())):
            if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING":
                found |= {one for node in block.body for one in _imported(node)}
    return sorted(one for one in found - loaded if one.startswith("hindnote."))


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if not isinstance(node, ast.ImportFrom) or node.module is None:
        return []
    inner = [f"{node.module}.{alias.name}" for alias in node.names]
    return [name if _is_module(name) else node.module for name in inner][:1]


def _is_module(name: str) -> bool:
    path = ROOT.joinpath(*name.split(".")[1:])
    return name.startswith("hindnote.") and (path.with_suffix(".py").exists() or path.is_dir())


def _saved_by(prepared: str, loaded: dict[str, set[str]], home: str) -> dict[str, float]:
    """Return the milliseconds that each kind of process saves in one of the other ways.

    Only the kinds that load ``core.tools.operation``, where two of the ways apply at all.
    """
    saved = {}
    for start, modules in loaded.items():
        if "hindnote.core.tools.operation" in modules:
            code = prepared.replace("{types}", repr(type_imports(modules)))
            times = [float(run(STARTS[start] + code + WORKED, home)) for _ in range(3)]
            saved[start] = min(times) * 1000
    return saved


def main() -> None:
    """Print what each import earns, the least useful first.

    ``!`` marks one that is not worthwhile, ``?`` one in a module that none of the processes loads.
    """
    found = sorted(set(lazy_imports()))
    with tempfile.TemporaryDirectory() as home, ThreadPoolExecutor(2) as threads:
        loaded = {
            start: set(json.loads(run(code + LOADED, home))) for start, code in STARTS.items()
        }
        wanted = sorted(
            {
                (start, target)
                for module, _, target in found
                for start, modules in loaded.items()
                if module in modules and target not in modules
            }
        )

        def milliseconds(pair: tuple[str, str]) -> float:
            start, target = pair
            code = STARTS[start] + TIMED.format(module=target)
            return min(float(run(code, home)) for _ in range(3)) * 1000

        others = {name: _saved_by(code, loaded, home) for name, code in OTHERS.items()}
        earned = dict(zip(wanted, threads.map(milliseconds, wanted), strict=True))
    rows = []
    for module, line, target in found:
        saved = {start: earned[start, target] for start in STARTS if (start, target) in earned}
        rows.append((max(saved.values(), default=0.0), module, line, target, saved))
    for most, module, line, target, saved in sorted(rows):
        told = ", ".join(f"{start} {value:.1f} ms" for start, value in saved.items())
        seen = any(module in modules for modules in loaded.values())
        mark = " " if most >= WORTHWHILE else "!" if seen else "?"
        print(f"{mark} {most:6.1f}  {module}:{line}  {target}  {told}")  # noqa: T201
    for name, saved in others.items():
        told = ", ".join(f"{start} {value:.1f} ms" for start, value in saved.items())
        print(f"{name}: {told}")  # noqa: T201


if __name__ == "__main__":
    main()
