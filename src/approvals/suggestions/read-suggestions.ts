import type { Wedge } from '../../platform/contract/wedge/wedge-manifest.ts'
import type { Db } from '../../platform/store/store.ts'
import { parseTaskConstraints } from '../../work/tasks/view.ts'
import { parseTool } from '../policy/action-text.ts'
import { findPolicy, type Policy } from '../policy/current-policy.ts'
import { listPastDecisions, listRefusedApprovals, type PastApproval } from '../requests/rows.ts'
import {
  decisiveDollars,
  dollarsOf,
  type PastDecision,
  type PastOutcome,
  type RuleSuggestion,
  suggestRules,
  toPastDecision,
} from './suggest-rules.ts'
import { toSuggestionsView } from './suggestion-view.ts'
import { parseProposedPayload } from '../requests/view.ts'

/** At most this many approved, and this many expired, requests are read. More would make the request too slow. */
export const MAX_READ_PER_STATUS = 500
/** A page has whole payloads, so it is small. */
const PAGE_ROWS = 250

/** What was read of the decisions of a wedge in one project, by the id of the approval. */
interface History {
  db: Db
  projectId: string
  wedge: Wedge
  policy: Policy
  decisions: Map<string, PastDecision>
}

/** Suggests rules from what people decided in the project, with the policy that they would change. */
export async function readSuggestions(db: Db, projectId: string, wedge: Wedge) {
  const policy = await findPolicy(db, projectId, wedge)
  const history: History = { db, projectId, wedge, policy, decisions: new Map() }
  const hasOlderApproved = await readNewest(history, 'approved')
  const hasOlderExpired = await readNewest(history, 'expired')
  await readRefused(history, suggestFrom(history).suggestions)
  const isCapped = hasOlderApproved || hasOlderExpired
  return toSuggestionsView(policy, { checked: history.decisions.size, isCapped }, suggestFrom(history))
}

function suggestFrom({ wedge, policy, decisions }: History) {
  const past = [...decisions.values()].toSorted((a, b) => (a.approvalId < b.approvalId ? 1 : -1))
  return suggestRules(wedge.manifest, policy.rules, past)
}

/** Returns whether there are older ones. */
async function readNewest(history: History, status: 'approved' | 'expired'): Promise<boolean> {
  const { db, projectId, wedge } = history
  let cursor: string | undefined
  for (let read = 0; read < MAX_READ_PER_STATUS; read += PAGE_ROWS) {
    const rows = await listPastDecisions(db, projectId, wedge.slug, status, { limit: PAGE_ROWS, cursor })
    cursor = addPage(history, rows).at(-1)?.approvalId
    if (rows.length <= PAGE_ROWS) return false
  }
  return true
}

/**
 * Reads every request that a person refused and that one of the suggestions could cover, however old it is. Nothing more is
 * read about an action as soon as a refused request leaves no rule for it.
 */
async function readRefused(history: History, suggestions: readonly RuleSuggestion[]): Promise<void> {
  const { db, projectId, wedge } = history
  const open = new Map(suggestions.map((one) => [one.rule.action.toLowerCase(), decisiveDollars(one)]))
  for (const refusal of ['edited', 'rejected'] as const) {
    let cursor: string | undefined
    for (let hasMore = true; hasMore && open.size > 0; ) {
      const page = { limit: PAGE_ROWS, cursor }
      const rows = await listRefusedApprovals(db, projectId, wedge.slug, { refusal, actions: [...open.keys()] }, page)
      const refused = addPage(history, rows)
      for (const one of refused) {
        const action = one.action.toLowerCase()
        if (one.outcome === 'refused' && dollarsOf(one) <= (open.get(action) ?? 0)) open.delete(action)
      }
      cursor = refused.at(-1)?.approvalId
      hasMore = rows.length > PAGE_ROWS
    }
  }
}

function addPage({ policy, decisions }: History, rows: readonly PastApproval[]): PastDecision[] {
  const added = rows.slice(0, PAGE_ROWS).map((row) => toDecision(policy, row))
  for (const one of added) decisions.set(one.approvalId, one)
  return added
}

function toDecision({ rules }: Policy, row: PastApproval): PastDecision {
  const request = { action: row.action, payload: parseProposedPayload(row), amount: parseTool(row)?.amount ?? null }
  const { id: approvalId, task_id: taskId, created_at: createdAt } = row
  return toPastDecision(rules, request, { approvalId, taskId, createdAt, outcome: toOutcome(row) })
}

function toOutcome(row: PastApproval): PastOutcome {
  // With several approvers one can edit a request that expires afterwards.
  if (row.edited !== null) return 'refused'
  if (row.status === 'expired') return 'undecided'
  // The service closes the other requests of a task when one is rejected; no person has decided about them.
  if (row.status === 'rejected') return row.decided_by_kind === 'system' ? 'other' : 'refused'
  if (row.status !== 'approved') return 'other'
  // A program that decides with a key is no evidence of what people want.
  if (row.decided_by_kind !== 'member') return 'other'
  // No rule could have approved these.
  if (row.needed > 1 || row.approvers !== null || parseTaskConstraints(row).approval_required) return 'other'
  return 'unchanged'
}
