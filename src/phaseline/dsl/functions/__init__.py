"""Intrinsic functions: mappings such as ``{"get_input": "port"}`` that stand for a value (B40-B42).

``evaluate`` answers what is known to a scope: everything for a running instance, inputs and
properties while a deployment is made (the rest stays as it is written).
"""

from phaseline.dsl.functions.evaluation import MAX_RECURSION, evaluate
from phaseline.dsl.functions.outputs import evaluate_outputs
from phaseline.dsl.functions.scope import Scope, Secrets
from phaseline.dsl.functions.scopes import Facts, Instances, RuntimeScope, StaticScope
from phaseline.dsl.functions.seen import TopologyInstances, blueprint_id, display_name, facts_of
from phaseline.dsl.functions.table import FUNCTIONS, contains_functions, is_function

__all__ = [
    "FUNCTIONS",
    "MAX_RECURSION",
    "Facts",
    "Instances",
    "RuntimeScope",
    "Scope",
    "Secrets",
    "StaticScope",
    "TopologyInstances",
    "blueprint_id",
    "contains_functions",
    "display_name",
    "evaluate",
    "evaluate_outputs",
    "facts_of",
    "is_function",
]
