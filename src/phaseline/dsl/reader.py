"""Read one blueprint: its files, sections, types and templates, followed by the checks, in this order."""

from __future__ import annotations

import posixpath
from typing import cast

from phaseline.dsl.functions.static_checks import FunctionCheck
from phaseline.dsl.imports.importer import read_files
from phaseline.dsl.imports.section_merge import IN_MISSING, MergedSections, merge_sections
from phaseline.dsl.nodes.containment_cycles import check_circles, with_hosts
from phaseline.dsl.nodes.groups import read_groups
from phaseline.dsl.nodes.input_declarations import InputDeclarations
from phaseline.dsl.nodes.labels_and_settings import read_labels, read_settings, read_tags
from phaseline.dsl.nodes.node_templates import Templates
from phaseline.dsl.nodes.plain_secrets import warn_of_plain_secrets
from phaseline.dsl.nodes.plugin_placement import check_hosts
from phaseline.dsl.nodes.plugins import read_plugins
from phaseline.dsl.nodes.relationships import Relationships
from phaseline.dsl.nodes.state_paths import read_on_path, read_state_paths
from phaseline.dsl.nodes.workflows_and_outputs import read_outputs, read_workflows
from phaseline.dsl.text.dsl_versions import LATEST, version_name
from phaseline.dsl.text.file_source import FileSource
from phaseline.dsl.text.problem_report import ProblemReport
from phaseline.dsl.type_system.operation_mappings import Mappings, Scripts
from phaseline.dsl.type_system.operations import Operations
from phaseline.dsl.type_system.property_schemas import Properties
from phaseline.dsl.type_system.type_hierarchy import Types
from phaseline.model.blueprint.blueprint import Blueprint, Node, Value
from phaseline.model.problems.problem import ProblemsError


def read_blueprint(
    main: str, source: FileSource, *, validate_version: bool = True, open_types: bool = False
) -> Blueprint:
    """Read the blueprint in the file ``main`` with all its imports; merge and check them.

    With ``validate_version`` False, elements of later versions of the language are accepted (B3). With ``open_types``,
    types from a missing definition file of a plugin become open types, with a warning for each.

    Raises: ``ProblemsError`` with all errors, followed by warnings. Without errors, the warnings are in ``warnings``.
    Source: Cloudify, blueprints and DSL definitions.
    """
    return read_whole(main, source, validate_version=validate_version, open_types=open_types)[0]


def read_whole(
    main: str, source: FileSource, *, validate_version: bool = True, open_types: bool = False
) -> tuple[Blueprint, MergedSections]:
    """Read a blueprint like ``read_blueprint``, and also return the merged sections from which it was made."""
    report = ProblemReport()
    files = read_files(main, source, report, validate_version=validate_version, may_miss=open_types)
    if not files.documents:
        raise ProblemsError(report.problems())
    minor = files.minor if validate_version else None
    sections = merge_sections(files.documents, minor, report, files.uploaded, version=files.minor)
    sections.is_whole = files.is_whole
    if open_types and not files.is_whole:
        from phaseline.dsl.imports.open_types import declare_open_types

        declare_open_types(sections, report)
    reading = _Reading(main, source, sections, report)
    blueprint = reading.blueprint(version_name(LATEST if files.minor is None else files.minor))
    if blueprint.announced and not report.errors_count:
        reading.ask_announced(blueprint)
    if report.errors_count:
        raise ProblemsError((*report.problems(), *blueprint.warnings))
    return blueprint, sections


class _Reading:
    """Reads one blueprint: creates the readers of its parts, which share the sections and the report."""

    def __init__(self, main: str, source: FileSource, sections: MergedSections, report: ProblemReport) -> None:
        self._main = main
        self._sections = sections
        self._report = report
        self._functions = FunctionCheck(
            report, sections.minor, sections.of("inputs").keys() | sections.broken.get("inputs", set())
        )
        self._properties = Properties(sections, report)
        self._mappings = Mappings(
            read_plugins(sections, report),
            sections.broken.get("plugins", ()),
            Scripts(source, sections.namespaces),
            report,
            is_open=sections.is_open,
            otherwise=IN_MISSING if not sections.is_whole else "",
        )
        self._operations = Operations(self._mappings, self._properties, self._functions, report)
        self._is_sound = True

    def blueprint(self, version: str) -> Blueprint:
        """Return the merged blueprint and report everything that is wrong with it."""
        sections, report = self._sections, self._report
        self._properties.check_all_data_types()
        declarations = InputDeclarations(sections, self._properties, self._functions, report)
        inputs = declarations.inputs()
        nodes = self._nodes()
        grouping = read_groups(sections, nodes, self._properties, self._functions, report, is_sound=self._is_sound)
        outputs = read_outputs(sections, "outputs", self._functions)
        capabilities = read_outputs(sections, "capabilities", self._functions)
        workflows = read_workflows(sections, self._mappings, declarations, report)
        on_path = read_on_path(nodes, sections, report)
        state_paths = read_state_paths(sections, report)
        labels = read_labels(sections, "labels", self._functions, report)
        blueprint_labels = read_labels(sections, "blueprint_labels", self._functions, report)
        settings = read_settings(sections, workflows, self._functions, report)
        tags = read_tags(sections, self._functions)
        warn_of_plain_secrets(sections, inputs, report)
        open_nodes = sections.open.get("node_types", set())
        known = sections.of("node_templates").keys() | sections.broken.get("node_templates", set())
        whole = {
            name: node.properties for name, node in nodes.items() if not open_nodes.intersection(node.type_hierarchy)
        }
        self._functions.check_names(whole, known, IN_MISSING if not sections.is_whole else "")
        return Blueprint(
            version=version,
            file=self._main,
            folder=posixpath.dirname(self._main) or ".",
            nodes=nodes,
            inputs=inputs,
            outputs=outputs,
            capabilities=capabilities,
            plugins=self._mappings.plugins,
            workflows=workflows,
            description=str(sections.single.get("description") or ""),
            metadata=cast("dict[str, Value]", sections.single.get("metadata") or {}),
            warnings=report.problems("warning"),
            data_types=self._properties.used(),
            uploaded={name: held for name, held in sections.namespaces.items() if held},
            on_path=on_path,
            state_paths=state_paths,
            open_types=tuple(sorted(open_nodes)),
            announced=self._functions.announced,
            groups=grouping.groups,
            policies=grouping.policies,
            scaling_groups=grouping.scaling_groups,
            policy_types=sections.of("policy_types"),
            policy_triggers=sections.of("policy_triggers"),
            labels=labels,
            blueprint_labels=blueprint_labels,
            deployment_settings=settings,
            resource_tags=tags,
        )

    def ask_announced(self, blueprint: Blueprint) -> None:
        """Let third-party functions check the whole blueprint, once it has no other errors."""
        from phaseline.dsl.documents.merged_plan import plan_document

        self._functions.check_announced_in(plan_document(blueprint, self._sections))

    def _nodes(self) -> dict[str, Node]:
        sections, report = self._sections, self._report
        builders = (self._properties, self._operations, self._functions, report)
        node_types = Types("node_types", sections, self._properties, self._operations, self._functions, report)
        relationship_types = Types(
            "relationships", sections, self._properties, self._operations, self._functions, report
        )
        node_types.check_all()
        relationship_types.check_all()
        relationships = Relationships(sections, relationship_types, builders)
        nodes = Templates(sections, node_types, relationships, builders).nodes()
        self._operations.warn_of_faults()
        self._is_sound = check_circles(nodes, lambda name: sections.spot("node_templates", name), report)
        if self._is_sound:
            nodes = with_hosts(nodes)
            open_nodes = sections.open.get("node_types", set())
            check_hosts(nodes, lambda name: sections.spot("node_templates", name), report, open_nodes)
        return nodes
