"""Run by the peer's own Python: ``cloudify_parse.py FILE``; prints the seconds of parsing it and of preparing a deployment."""

import json
import sys
import time
from pathlib import Path

from dsl_parser.parser import parse
from dsl_parser.tasks import prepare_deployment_plan

text = Path(sys.argv[1]).read_text("utf-8")
began = time.perf_counter()
plan = parse(text)
parsed = time.perf_counter()
prepare_deployment_plan(plan, lambda *_, **__: None, {})
ended = time.perf_counter()
print(json.dumps({"parse": parsed - began, "prepare": ended - parsed}))
