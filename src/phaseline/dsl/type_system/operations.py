"""Build the operations of types and templates: their mappings, and how they override one another (B30-B33)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Literal, cast

from phaseline.dsl.functions.registry import has_none_at_all, is_function
from phaseline.dsl.functions.static_checks import DeferredCheck, FunctionCheck, Standing
from phaseline.dsl.text.problem_report import ElementPath, ProblemReport
from phaseline.dsl.type_system.known_operations import doubt
from phaseline.dsl.type_system.operation_mappings import ImplementationProblem, Mappings
from phaseline.dsl.type_system.property_schemas import Properties
from phaseline.lang.fast_dataclasses import mutable
from phaseline.model.blueprint.blueprint import Operation, PropertySchema, Value

SCRIPT_INPUTS = ("script_path", "script_source")
EXECUTORS = ("central_deployment_agent", "host_agent")

Owner = Literal["node", "relationship", "workflow"]
UNRESOLVED: dict[Owner, int] = {"node": 10, "relationship": 19, "workflow": 21}
"""{owner of a mapping: Cloudify's error number for a mapping to a function, script or plugin that does not exist}."""


@mutable
class OperationProblem:
    """A problem of a node type's operation mapping. It is reported only if a template uses the operation.

    ``is_told`` is True if the problem was reported, ``is_replaced`` if a subtype or template replaces the operation.
    """

    wrong: ImplementationProblem
    place: ElementPath
    is_told: bool = False
    is_replaced: bool = False


@mutable
class TypeOperation:
    """An operation of a type. ``operation`` has the defaults of its inputs; ``text`` is its implementation as written.

    ``missing`` are required inputs without default. ``later`` is {input: check to make if its default is used}.
    """

    operation: Operation
    text: str
    inputs: Mapping[str, PropertySchema]
    missing: tuple[str, ...]
    given: Mapping[str, Value]
    later: Mapping[str, DeferredCheck]
    fault: OperationProblem | None


class Operations:
    """Builds all operations of one blueprint."""

    def __init__(
        self, mappings: Mappings, properties: Properties, functions: FunctionCheck, report: ProblemReport
    ) -> None:
        """Store the readers and checkers that all operations of the blueprint share."""
        self._mappings = mappings
        self._properties = properties
        self._functions = functions
        self._report = report
        self._names: dict[tuple[str, str], str] = {}
        self._doubts: dict[tuple[str, str], tuple[str, str] | None] = {}
        self._faults: list[OperationProblem] = []

    def full_name(self, interface: str, name: str) -> str:
        """Return ``interface.operation``, for equal arguments always as the same object, to save memory."""
        found = self._names.get((interface, name))
        if found is None:
            found = self._names[interface, name] = f"{interface}.{name}"
        return found

    def of_type(
        self, interfaces: Value, parent: Mapping[str, TypeOperation], spot: ElementPath, owner: Owner
    ) -> dict[str, TypeOperation]:
        """Return {full name: operation} of a type. An operation replaces that of the parent completely (B32)."""
        found = dict(parent)
        if isinstance(interfaces, dict):
            for interface, operations in interfaces.items():
                for name, raw in cast("dict[str, Value]", operations).items():
                    full = self.full_name(interface, name)
                    if full not in parent:
                        if not spot.document.is_bundled:
                            self._doubt(interface, name, spot)
                    elif (fault := parent[full].fault) is not None:
                        fault.is_replaced = True
                    found[full] = self._type_operation(full, raw, spot.at(interface, name), owner)
        return found

    def _doubt(self, interface: str, name: str, spot: ElementPath) -> None:
        """Warn of an operation whose name is probably a mistake."""
        if (interface, name) not in self._doubts:
            self._doubts[interface, name] = doubt(interface, name)
        told = self._doubts[interface, name]
        if told is not None:
            self._report.warn("PL-B084", *told, spot.at(interface, name))

    def _type_operation(self, full: str, raw: Value, spot: ElementPath, owner: Owner) -> TypeOperation:
        text, fields = _split(raw)
        inputs: dict[str, PropertySchema] = {}
        given: dict[str, Value] = {}
        unchecked: dict[str, DeferredCheck] = {}
        has_functions = False
        for name, item in cast("dict[str, Value]", fields.get("inputs") or {}).items():
            here = spot.at("inputs", name)
            schema = inputs[name] = self._properties.schema(item, here)
            if schema.has_default:
                given[name] = _typed(schema.default, schema)
                if schema.default is not None:
                    self._properties.fits(schema, schema.default, here.at("default"))
                standing: Standing = "node" if owner == "node" else "relationship"
                if text:
                    found, later = self._functions.scan_default(schema.default, here.at("default"), standing)
                    has_functions |= found
                    if later is not None:
                        unchecked[name] = later
        fault = self._fault(text, fields, spot) if owner == "node" else None
        if not text:
            operation = self._no_op(full, fields, spot)
        elif fault is None:
            operation = self._operation(full, text, fields, given, spot, owner, has_functions=has_functions)
        else:
            operation = Operation(full)
        missing = tuple(name for name, schema in inputs.items() if schema.required and name not in given)
        return TypeOperation(operation, text, inputs, missing if text else (), fields, unchecked, fault)

    def _fault(self, text: str, fields: Mapping[str, Value], spot: ElementPath) -> OperationProblem | None:
        """Return the problem of a node type's mapping, or None; keep it to be reported only if a template uses it (B32).

        Cloudify does the same.
        """
        mapped = self._mappings.resolve(text) if text else None
        if not isinstance(mapped, ImplementationProblem):
            return None
        fault = OperationProblem(mapped, spot.at("implementation") if "implementation" in fields else spot)
        self._faults.append(fault)
        return fault

    def warn_of_faults(self) -> None:
        """Warn of problems in mappings of types that no template uses."""
        for fault in self._faults:
            if not (fault.is_told or fault.is_replaced) and not fault.place.document.is_bundled:
                self._report.warn(fault.wrong.code, fault.wrong.message, fault.wrong.mend, fault.place, point="value")

    def check_inherited(self, base: TypeOperation, spot: ElementPath) -> None:
        """Check an operation of a type that a template uses unchanged."""
        for later in base.later.values():
            self._functions.use(later)
        if base.fault is None:
            self.check_missing(base, (), spot)
        elif not base.fault.is_told:
            base.fault.is_told = True
            wrong = base.fault.wrong
            number = UNRESOLVED["node"] if wrong.code in _LEADS_NOWHERE else None
            self._report.add(wrong.code, wrong.message, wrong.mend, base.fault.place, number=number)

    def of_template(
        self,
        interfaces: Mapping[str, Value],
        types: Mapping[str, TypeOperation],
        plain: Mapping[str, Operation],
        spot: ElementPath,
        owner: Owner,
        own: str,
    ) -> tuple[dict[str, Operation], bool]:
        """Return (operations of a template and its type, True if the template's own ones have functions).

        ``own`` is the node that SELF means.
        """
        found = {**plain}
        have_functions = False
        document, path = spot
        for interface, operations in interfaces.items():
            for name, raw in operations.items():  # type: ignore[union-attr]  # the shape was checked
                full = self._names.get((interface, name)) or self.full_name(interface, name)
                base = types.get(full)
                if base is None:
                    self._doubt(interface, name, spot)
                place = ElementPath(document, (*path, interface, name))
                operation = found[full] = self._template_operation(full, raw, base, place, owner, own)
                if operation.has_functions:
                    have_functions = True
        return found, have_functions

    def _template_operation(
        self, full: str, raw: Value, base: TypeOperation | None, spot: ElementPath, owner: Owner, own: str
    ) -> Operation:
        text, fields = _split(raw)
        if not text and (base is None or not base.text or not _says_anything(fields)):
            return self._no_op(full, fields, spot)
        given = cast("dict[str, Value]", fields.get("inputs") or {})
        has_functions = not has_none_at_all(given) and self._functions.scan(
            given, spot.at("inputs"), "node" if owner == "node" else "relationship", own
        )
        if base is None or not base.text or (text and text != base.text):
            return self._operation(full, text, fields, given, spot, owner, has_functions=has_functions)
        for name, later in base.later.items():
            if name not in given:
                self._functions.use(later)
        self.check_missing(base, given, spot)
        inputs = {
            **base.operation.inputs,
            **{name: _typed(value, base.inputs.get(name)) for name, value in given.items()},
        }
        return self._operation(
            full,
            base.text,
            {**base.given, **fields},
            inputs,
            spot,
            owner,
            has_functions=has_functions or base.operation.has_functions,
        )

    def check_missing(self, base: TypeOperation, given: Collection[str], spot: ElementPath) -> None:
        """Report required inputs that neither the type nor the template gives."""
        for name in base.missing:
            if name not in given:
                self._report.add(
                    "PL-B066",
                    f"input '{name}' of '{base.operation.name}' is missing a value",
                    f"add '{name}: …' under 'inputs' of the operation",
                    spot,
                    point="key",
                )

    def _operation(
        self,
        full: str,
        text: str,
        fields: Mapping[str, Value],
        inputs: Mapping[str, Value],
        spot: ElementPath,
        owner: Owner,
        *,
        has_functions: bool,
    ) -> Operation:
        mapped = self._mappings.resolve(text)
        if isinstance(mapped, ImplementationProblem):
            self._wrong(mapped, fields, spot, owner)
            return Operation(full)
        form, plugin, implementation = mapped
        executor: object = fields.get("executor")
        if executor is not None:
            executor = self._checked_executor(executor, spot)
        elif form == "function":
            declared = self._mappings.plugins.get(plugin)
            executor = declared.executor if declared is not None else None
        else:
            executor = "auto"
        if form != "function":
            self._check_script_inputs(inputs, spot)
        if len(fields) <= 2 and fields.keys() <= _PLAIN_FIELDS:
            return Operation(full, form, plugin, implementation, inputs, executor, has_functions=has_functions)  # type: ignore[arg-type]  # checked above
        return Operation(
            full,
            form,
            plugin,
            implementation,
            inputs,
            executor,  # type: ignore[arg-type]  # checked above
            cast("int | None", fields.get("max_retries")),
            _seconds(fields.get("retry_interval")),
            _seconds(fields.get("timeout")),
            fields.get("timeout_recoverable") is True,
            has_functions,
        )

    def _no_op(self, full: str, fields: Mapping[str, Value], spot: ElementPath) -> Operation:
        """Return an operation without implementation. Its inputs are not checked, because they are never used."""
        if fields.get("executor") is not None:
            self._checked_executor(fields["executor"], spot)
        return Operation(full)

    def _wrong(
        self, wrong: ImplementationProblem, fields: Mapping[str, Value], spot: ElementPath, owner: Owner
    ) -> None:
        place = spot.at("implementation") if "implementation" in fields else spot
        number = UNRESOLVED[owner] if wrong.code in _LEADS_NOWHERE else None
        self._report.add(wrong.code, wrong.message, wrong.mend, place, number=number)

    def _checked_executor(self, executor: object, spot: ElementPath) -> str | None:
        if executor in EXECUTORS:
            return str(executor)
        mend = self._report.suggest(str(executor), EXECUTORS, f"write {EXECUTORS[0]} or {EXECUTORS[1]}")
        self._report.add("PL-B064", f"'{executor}' is not an executor", mend, spot.at("executor"))
        return None

    def _check_script_inputs(self, inputs: Mapping[str, Value], spot: ElementPath) -> None:
        for name in SCRIPT_INPUTS:
            if name in inputs:
                self._report.add(
                    "PL-B063",
                    f"the input '{name}' is set by the script itself",
                    "remove the input, or map 'script.script_runner.tasks.run'",
                    spot.at("inputs", name),
                    point="key",
                )


_LEADS_NOWHERE = frozenset({"PL-B060", "PL-B067"})
_PLAIN_FIELDS = {"implementation", "inputs"}
_NO_FIELDS: Mapping[str, Value] = {}


def _split(raw: Value) -> tuple[str, Mapping[str, Value]]:
    """Return (implementation of an operation as written, its other fields if it is a mapping)."""
    if raw.__class__ is str:
        return raw, _NO_FIELDS
    fields = cast("dict[str, Value]", raw) or _NO_FIELDS
    return cast("str", fields.get("implementation") or ""), fields


def _typed(value: Value, schema: PropertySchema | None) -> Value:
    """Add the type of an input to a function given for it, so that the function's result is checked later."""
    if schema is None or schema.type is None or not is_function(value):
        return value
    return {**cast("dict[str, Value]", value), "type": schema.type}


def _says_anything(fields: Mapping[str, Value]) -> bool:
    """Return True if at least one field has a value. An operation in which no field has a value does nothing."""
    return any(value not in ("", None, {}) for value in fields.values())


def _seconds(value: Value) -> float | None:
    return float(value) if isinstance(value, int | float) else None
