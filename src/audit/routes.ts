import { z } from 'zod'
import { tryParse } from '../base/fields.ts'
import type { Json } from '../base/json.ts'
import { badRequest, forbidden } from '../base/problem.ts'
import { roleAtLeast, type Scope } from '../ctx/scope.ts'
import { jsonObject } from '../http/judge.ts'
import { filter, page, pageOf, pageQuery } from '../http/page.ts'
import { read, nameRoutes } from '../http/route.ts'
import type { AuditEntries } from '../store/tables.ts'
import { exportChain } from './export.ts'
import { listEntries } from './rows.ts'
import { verifyStored } from './verify.ts'

const AuditEntry = z
  .object({
    seq: z.number().int(),
    ts: z.string(),
    actor: z.object({ kind: z.string(), id: z.string() }),
    action: z.string(),
    subject: z.string(),
    data: jsonObject,
    prev_hash: z.string(),
    hash: z.string(),
  })
  .meta({ id: 'AuditEntry' })

const chain = z.enum(['project', 'organisation']).default('project')
const seq = z.string().regex(/^\d{1,15}$/, 'must be a whole number of at least 0')

export const auditRoutes = nameRoutes({
  listAuditEntries: read('/v1/audit', {
    summary: 'The audit chain of a project, newest first',
    query: z.object({
      ...pageQuery(/^[1-9]\d{0,14}$/),
      chain,
      action: filter,
      subject: filter,
      from_seq: seq.optional(),
      to_seq: seq.optional(),
    }),
    answers: { 200: pageOf(AuditEntry) },
    async handle({ ctx, scope, query: { limit, cursor, chain, action, subject, from_seq, to_seq } }) {
      const to = Math.min(numberOr(to_seq, Number.MAX_SAFE_INTEGER), numberOr(cursor, Number.MAX_SAFE_INTEGER) - 1)
      const filter = { action, subject, from: numberOr(from_seq, 0), to, limit }
      const rows = await listEntries(ctx.db, chainOf(scope, chain), filter)
      return page(rows, limit, (row) => String(row.seq), shown)
    },
  }),

  verifyAudit: read('/v1/audit/verify', {
    summary: 'Recompute the audit chain and name the first entry that is wrong',
    query: z.object({ chain }),
    answers: {
      200: z.object({
        ok: z.boolean(),
        entries: z.number().int(),
        head: z.string().nullable(),
        first_bad_seq: z.number().int().nullable(),
        problem: z.string().nullable(),
        anchored_to: z.number().int().nullable(),
        signed_by: z.string().nullable(),
        sealed_from: z.number().int().nullable(),
        checkpoints: z.object({ signed: z.number().int(), not_verifiable: z.number().int() }),
      }),
    },
    handle: async ({ ctx, scope, query }) => verifyStored(ctx, chainOf(scope, query.chain)),
  }),

  exportAudit: read('/v1/audit/export', {
    summary: 'The audit chain with its checkpoints as JSON lines, for `./svc audit verify FILE`',
    query: z.object({ chain }),
    answers: { 200: 'application/jsonl' },
    handle: async ({ ctx, scope, query }) => exportChain(ctx, chainOf(scope, query.chain)),
  }),
})

/** Chains of several projects have no common order, so one must be named. */
function chainOf(scope: Scope, which: z.infer<typeof chain>): string {
  if (which === 'organisation') return organisationChain(scope)
  const [projectId, another] = scope.projectIds
  if (projectId === undefined || another !== undefined) throw badRequest("header 'x-svc-project' is required")
  return projectId
}

/** Tells of people and of other projects: nothing for a key, which sees only its own project. */
function organisationChain({ actor, role, orgId }: Scope): string {
  if (actor.kind !== 'member') throw forbidden('a key sees only the chain of its project')
  if (!roleAtLeast(role, 'admin')) throw forbidden(`role '${role}' cannot do this`)
  return orgId
}

function shown({ seq, ts, actor_kind, actor_id, action, subject, data, prev_hash, hash }: AuditEntries) {
  return { seq, ts, actor: { kind: actor_kind, id: actor_id }, action, subject, data: dataOf(data), prev_hash, hash }
}

/** What somebody wrote past the service may not be JSON: it is shown as it is, and verify names it. */
function dataOf(text: string): Json {
  const data = tryParse(text)
  return data === undefined ? text : data
}

const numberOr = (text: string | undefined, fallback: number) => (text === undefined ? fallback : Number(text))
