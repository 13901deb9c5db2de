"""One process that asks the corpus: ``recall_child.py FOLDER QUESTION [LIMIT OF A FILE'S BYTES]``."""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path

from hindnote.core.call import Dispatcher
from hindnote.core.plugins.hosts import Hosts
from hindnote.core.plugins.models import HostCall
from hindnote.core.recall import batch

folder, question = Path(sys.argv[1]), sys.argv[2]
# Many small transactions, so that a kill finds one that is half done.
batch.FULL = 2_000
if len(sys.argv) > 3:
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), int(sys.argv[3])))
dispatcher = Dispatcher(Hosts.load(), folder / "notes")
call = HostCall(host="pi", cwd=folder, config_dir=folder / "agent")
sys.stdout.write("ready\n")
sys.stdout.flush()
answer = dispatcher.call(call, "history_list", {"session": "*", "about": question})
sys.stdout.write(json.dumps(answer.result["items"]))
