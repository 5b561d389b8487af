import { setImmediate } from 'node:timers/promises'
import type { Wedge } from '../contract/wedge-manifest.ts'
import type { Db } from '../store/store.ts'
import { parseTaskConstraints } from '../tasks/view.ts'
import { parseTool } from './action-text.ts'
import { findPolicy } from './current-policy.ts'
import { listPastApprovals, type PastApproval } from './rows.ts'
import { type PastDecision, type PastOutcome, suggestRules, toPastDecision } from './suggest-rules.ts'
import { toSuggestionsView } from './suggestion-view.ts'
import { parseProposedPayload } from './view.ts'

export const MAX_SUGGESTION_APPROVALS = 50_000
/** A page has whole payloads, so it is small. */
const PAGE_ROWS = 250

/** Suggests rules from what people decided in the project, with the policy that they would change. */
export async function readSuggestions(db: Db, projectId: string, wedge: Wedge) {
  const policy = await findPolicy(db, projectId, wedge)
  const past: PastDecision[] = []
  let isCapped = false
  for await (const row of readNewestApprovals(db, projectId, wedge.slug)) {
    isCapped = past.length === MAX_SUGGESTION_APPROVALS
    if (isCapped) break
    const request = { action: row.action, payload: parseProposedPayload(row), amount: parseTool(row)?.amount ?? null }
    const { id: approvalId, task_id: taskId, created_at: createdAt } = row
    past.push(toPastDecision(policy.rules, request, { approvalId, taskId, createdAt, outcome: toOutcome(row) }))
  }
  return toSuggestionsView(policy, { checked: past.length, isCapped }, suggestRules(wedge.manifest, policy.rules, past))
}

/** Reads in pages and yields to the event loop between them, so that other requests are served. */
async function* readNewestApprovals(db: Db, projectId: string, wedge: string): AsyncGenerator<PastApproval> {
  for (let before: string | undefined; ; ) {
    const rows = await listPastApprovals(db, projectId, wedge, { limit: PAGE_ROWS, before })
    yield* rows
    if (rows.length < PAGE_ROWS) return
    before = rows.at(-1)?.id
    await setImmediate()
  }
}

function toOutcome(row: PastApproval): PastOutcome {
  if (row.status === 'expired') return 'undecided'
  // The service closes the other requests of a task when one is rejected; no person has decided about them.
  if (row.status === 'rejected') return row.decided_by_kind === 'system' ? 'other' : 'refused'
  if (row.status !== 'approved') return 'other'
  if (row.edited !== null) return 'refused'
  // No rule could have approved these.
  if (row.needed > 1 || row.approvers !== null || parseTaskConstraints(row).approval_required) return 'other'
  return 'unchanged'
}
