import { setImmediate } from 'node:timers/promises'
import type { Wedge } from '../contract/wedge-manifest.ts'
import type { Db } from '../store/store.ts'
import { parseTaskConstraints } from '../tasks/view.ts'
import { parseTool } from './action-text.ts'
import { findPolicy, type Policy } from './current-policy.ts'
import { listPastDecisions, type PastApproval, type PastDecisionKind } from './rows.ts'
import { type PastDecision, type PastOutcome, suggestRules, toPastDecision } from './suggest-rules.ts'
import { toSuggestionsView } from './suggestion-view.ts'
import { parseProposedPayload } from './view.ts'

/** So many decisions of each kind are read: a rejected request counts, even if thousands were approved after it. */
export const MAX_DECISIONS_OF_A_KIND = 500
const DECISION_KINDS: readonly PastDecisionKind[] = ['edited', 'rejected', 'approved', 'expired']
/** A page has whole payloads, so it is small. */
const PAGE_ROWS = 250

/** Suggests rules from what people decided in the project, with the policy that they would change. */
export async function readSuggestions(db: Db, projectId: string, wedge: Wedge) {
  const policy = await findPolicy(db, projectId, wedge)
  const decisions = new Map<string, PastDecision>()
  let isCapped = false
  for (const kind of DECISION_KINDS) {
    const { rows, hasMore } = await readNewestDecisions(db, projectId, wedge.slug, kind)
    isCapped ||= hasMore
    // An edited approval is an approved one too.
    for (const row of rows) if (!decisions.has(row.id)) decisions.set(row.id, toDecision(policy, row))
    await setImmediate()
  }
  const past = [...decisions.values()].toSorted((a, b) => (a.approvalId < b.approvalId ? 1 : -1))
  return toSuggestionsView(policy, { checked: past.length, isCapped }, suggestRules(wedge.manifest, policy.rules, past))
}

/** Reads in pages, so that other requests get their turn in between. */
async function readNewestDecisions(db: Db, projectId: string, wedge: string, kind: PastDecisionKind) {
  const rows: PastApproval[] = []
  let hasMore = true
  while (hasMore && rows.length < MAX_DECISIONS_OF_A_KIND) {
    const page = { limit: PAGE_ROWS, cursor: rows.at(-1)?.id }
    const found = await listPastDecisions(db, projectId, wedge, kind, page)
    rows.push(...found.slice(0, PAGE_ROWS))
    hasMore = found.length > PAGE_ROWS
    await setImmediate()
  }
  return { rows, hasMore }
}

function toDecision({ rules }: Policy, row: PastApproval): PastDecision {
  const request = { action: row.action, payload: parseProposedPayload(row), amount: parseTool(row)?.amount ?? null }
  const { id: approvalId, task_id: taskId, created_at: createdAt } = row
  return toPastDecision(rules, request, { approvalId, taskId, createdAt, outcome: toOutcome(row) })
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
