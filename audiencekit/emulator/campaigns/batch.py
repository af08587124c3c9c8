"""`POST …/batch/accounts/:account_id/campaigns`, `…/line_items` and `…/targeting_criteria`: all or nothing.

Specification part 1, sections 4.0 and 4.4. Update and Delete name their record by its id in `params`, which the
specification leaves open. The batches of line items and criteria are the public service's; recommendations are carried
out with them (section 4.10).
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from audiencekit.emulator.audiences.operations import check_array, echo_item, item_problems, missing
from audiencekit.emulator.calls import Call
from audiencekit.emulator.campaigns.campaigns import make_campaign, update_campaign
from audiencekit.emulator.campaigns.kinds import CAMPAIGNS, LINE_ITEMS, TARGETING_CRITERIA
from audiencekit.emulator.campaigns.line_items import make_line_item, update_line_item
from audiencekit.emulator.campaigns.targeting import make_criterion
from audiencekit.emulator.documents import read_document
from audiencekit.emulator.envelope import Answer, Problem, RefusalError, problem, refuse_items, success_of_items
from audiencekit.emulator.parameters import Parameters
from audiencekit.emulator.resources.records import Record
from audiencekit.emulator.resources.resource import Resource

MAX_ITEMS: Final = 40  # specification part 1, section 8
MAX_CRITERIA: Final = 500  # of the public service


@dataclass(frozen=True, slots=True)
class Batch:
    """Batches of one kind of records. Without `update` they cannot be changed."""

    kind: Resource
    make: Callable[[Call, Parameters], Record]
    update: Callable[[Call, Parameters, str], Record] | None = None
    most: int = MAX_ITEMS

    @property
    def operation_types(self) -> tuple[str, ...]:
        """The operations that it takes."""
        return ("Create", "Update", "Delete") if self.update else ("Create", "Delete")

    def handle(self, call: Call) -> Answer:
        """Return the records that were made, changed or deleted, in the order of the items."""
        items = check_array(read_document(call), call.ids, most=self.most)
        before, ids_made = copy.deepcopy(self.kind.all(call)), call.store.ids_made
        applied = [self._apply(call, item) for item in items]
        records = [found for found in applied if isinstance(found, Record)]
        if len(records) < len(applied):
            call.account.records[self.kind.kind], call.store.ids_made = before, ids_made
            problems = [[] if isinstance(found, Record) else found for found in applied]
            raise refuse_items(problems, [echo_item(item, call.ids, self.operation_types) for item in items])
        echoes = [{**item, "params": {**item["params"], **call.ids}} for item in items]
        return success_of_items([self.kind.show(record) for record in records], echoes)

    def _apply(self, call: Call, item: Any) -> Record | list[Problem]:
        if not isinstance(item, dict):
            return [problem("INVALID_PARAMETER", "Expected object for operation", "operation")]
        problems = item_problems(item, self.operation_types)
        if problems:
            return problems
        params = dict(item["params"])
        record_id = params.pop(self.kind.id_name, None)
        try:
            if item["operation_type"] == "Create":
                return self.make(call, Parameters.of(call, item["params"]))
            if not isinstance(record_id, str):
                return [missing(self.kind.id_name)]
            if item["operation_type"] == "Update" and self.update:
                return self.update(call, Parameters.of(call, params), record_id)
            return self._delete(call, Parameters.of(call, params), record_id)
        except RefusalError as refusal:
            return refusal.problems

    def _delete(self, call: Call, parameters: Parameters, record_id: str) -> Record:
        parameters.finish()
        record = self.kind.find(call, record_id)
        record.delete(call.now, call.user_id)
        return record


batch_campaigns: Final = Batch(CAMPAIGNS, make_campaign, update_campaign).handle
batch_line_items: Final = Batch(LINE_ITEMS, make_line_item, update_line_item).handle
batch_criteria: Final = Batch(TARGETING_CRITERIA, make_criterion, most=MAX_CRITERIA).handle
