import { z } from 'zod'
import { nameActors } from '../../identity/organisations/actor-name-rows.ts'
import { PolicyRule, type Wedge } from '../../platform/contract/wedge/wedge-manifest.ts'
import { defineProjectRead, defineWrite, nameRoutes, noContentResponse } from '../../platform/http/route.ts'
import type { Db } from '../../platform/store/store.ts'
import { parseTaskConstraints } from '../../work/tasks/view.ts'
import { requireEnabledPathWedge, requirePathWedge } from '../../wedges/library/enabled-wedges.ts'
import { findPolicy, resetPolicy, savePolicy } from '../policy/current-policy.ts'
import { listPolicyVersions } from '../policy/policy-rows.ts'
import { PolicyView, toPolicyView } from '../policy/policy-view.ts'
import { listPastApprovals, type PastApproval } from '../requests/rows.ts'
import { MAX_READ_PER_STATUS, readSuggestions } from './read-suggestions.ts'
import { type PastGatedRequest, simulatePolicy } from '../policy/simulate-policy.ts'
import { MIN_APPROVED } from './suggest-rules.ts'
import { SuggestionsView } from './suggestion-view.ts'
import { describeAction, parseTool } from '../policy/action-text.ts'
import { parseProposedPayload, PolicySimulationView } from '../requests/view.ts'

const MAX_SIMULATED_APPROVALS = 1000

const proposedRules = z.array(PolicyRule).max(200)

export const policyRoutes = nameRoutes({
  getPolicy: defineProjectRead('/v1/wedges/:wedge/policy', {
    summary: 'Read the auto-approve rules of a wedge',
    description: "The rules that the project saved, or else those of the wedge's folder.",
    responses: { 200: PolicyView },
    find: ({ ctx, params }) => requirePathWedge(ctx, params.wedge ?? ''),
    handle: ({ ctx, scope, subject: wedge }) => readPolicyView(ctx.db, scope.projectId, wedge),
  }),

  updatePolicy: defineWrite('PUT', '/v1/wedges/:wedge/policy', {
    summary: 'Save auto-approve rules for a wedge',
    description:
      "Saves a new version. Its rules replace those of the wedge's folder for this project, from the next request for an approval on.",
    role: 'admin',
    body: z.object({
      auto_approve: proposedRules,
      based_on: z
        .number()
        .int()
        .nullable()
        .optional()
        .meta({ description: 'The `version` that the caller has read; 409 if there is a newer one.' }),
    }),
    responses: { 200: PolicyView },
    find: ({ ctx, scope, params }) => requireEnabledPathWedge(ctx, scope, params.wedge ?? ''),
    async handle({ ctx, scope, subject: wedge, body: { auto_approve: rules, based_on: basedOn } }) {
      await savePolicy(ctx, scope, wedge, { rules, basedOn })
      return readPolicyView(ctx.db, scope.projectId, wedge)
    },
  }),

  deletePolicy: defineWrite('DELETE', '/v1/wedges/:wedge/policy', {
    summary: "Go back to the rules of the wedge's folder",
    description: 'Saves a new version without rules of its own. Earlier versions stay in the history.',
    role: 'admin',
    responses: { 204: z.null() },
    find: ({ ctx, scope, params }) => requireEnabledPathWedge(ctx, scope, params.wedge ?? ''),
    async handle({ ctx, scope, subject: wedge }) {
      await resetPolicy(ctx, scope, wedge)
      return noContentResponse()
    },
  }),

  listSuggestions: defineProjectRead('/v1/wedges/:wedge/suggestions', {
    summary: 'Suggest auto-approve rules',
    description: [
      `Suggests the narrowest rule for each action that people approved unchanged at least ${MIN_APPROVED} times.`,
      `Reads the newest ${MAX_READ_PER_STATUS} approved and the newest ${MAX_READ_PER_STATUS} expired requests of the wedge in the project.`,
      'Older approvals lead to no suggestion.',
      'No suggested rule covers a request that a person rejected, sent back or edited, however old that request is.',
    ].join(' '),
    longRead: true,
    responses: { 200: SuggestionsView },
    find: ({ ctx, params }) => requirePathWedge(ctx, params.wedge ?? ''),
    handle: ({ ctx, scope, subject: wedge }) => readSuggestions(ctx.db, scope.projectId, wedge),
  }),

  /** Writes nothing. It is a POST because rules do not fit into a query string. */
  simulatePolicy: defineWrite('POST', '/v1/wedges/:wedge/policy/simulate', {
    summary: 'Simulate a policy',
    description: 'Evaluates proposed rules against the newest approvals, oldest first.',
    body: z.object({
      auto_approve: proposedRules,
      limit: z.number().int().min(1).max(MAX_SIMULATED_APPROVALS).default(MAX_SIMULATED_APPROVALS),
    }),
    longRead: true,
    responses: { 200: PolicySimulationView },
    find: ({ ctx, params }) => requirePathWedge(ctx, params.wedge ?? ''),
    async handle({ ctx, scope, subject: wedge, body }) {
      const newest = await listPastApprovals(ctx.db, scope.projectId, wedge.slug, body.limit)
      const past = newest.toReversed()
      const decisions = simulatePolicy(body.auto_approve, past.map(toPastRequest))
      const results = past.flatMap((row, i) => {
        const { id: approval_id, action, status, created_at } = row
        const { text } = describeAction(parseTool(row), row, parseProposedPayload(row))
        const decision = decisions[i]
        return decision ? [{ approval_id, action, text, status, ...decision, created_at }] : []
      })
      const would_pass = results.filter(({ would }) => would === 'pass').length
      return { checked: results.length, would_pass, would_gate: results.length - would_pass, results }
    },
  }),
})

const MAX_SHOWN_VERSIONS = 20

async function readPolicyView(db: Db, projectId: string, wedge: Wedge) {
  const policy = await findPolicy(db, projectId, wedge)
  const rows = await listPolicyVersions(db, projectId, wedge.slug, MAX_SHOWN_VERSIONS)
  const nameOf = await nameActors(
    db,
    rows.map((row) => ({ kind: row.actor_kind, id: row.actor_id })),
  )
  return toPolicyView(policy, rows, nameOf)
}

function toPastRequest(row: PastApproval): PastGatedRequest {
  return {
    taskId: row.task_id,
    action: row.action,
    payload: parseProposedPayload(row),
    amount: parseTool(row)?.amount ?? null,
    createdAt: row.created_at,
    approvalRequired: parseTaskConstraints(row).approval_required,
  }
}
