import { z } from 'zod'
import { tryParseJson } from '../base/json-fields.ts'
import type { Json } from '../base/json.ts'
import { badRequest, forbidden } from '../base/problem.ts'
import { isRoleAtLeast, type Scope } from '../ctx/scope.ts'
import { jsonObject } from '../http/validate.ts'
import { filterParam, toPage, pageSchema, pageQuery } from '../http/page.ts'
import { defineRead, nameRoutes } from '../http/route.ts'
import type { AuditEntryRow } from '../store/tables.ts'
import { exportAuditChain } from './export.ts'
import { listAuditEntries } from './rows.ts'
import { verifyStoredChain } from './verify.ts'

const AuditEntryView = z
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
const seq = z
  .string()
  .regex(/^\d{1,15}$/, 'must be a whole number of at least 0')
  .meta({ type: 'integer', pattern: undefined, minimum: 0 })

export const auditRoutes = nameRoutes({
  listAuditEntries: defineRead('/v1/audit', {
    summary: 'List audit log entries, newest first',
    query: z.object({
      ...pageQuery(/^[1-9]\d{0,14}$/),
      chain,
      action: filterParam,
      subject: filterParam,
      from_seq: seq.optional(),
      to_seq: seq.optional(),
    }),
    responses: { 200: pageSchema(AuditEntryView) },
    async handle({ ctx, scope, query: { limit, cursor, chain, action, subject, from_seq, to_seq } }) {
      const to = Math.min(numberOr(to_seq, Number.MAX_SAFE_INTEGER), numberOr(cursor, Number.MAX_SAFE_INTEGER) - 1)
      const filter = { action, subject, from: numberOr(from_seq, 0), to, limit }
      const rows = await listAuditEntries(ctx.db, chainInScope(scope, chain), filter)
      return toPage(rows, limit, (row) => String(row.seq), toAuditEntryView)
    },
  }),

  verifyAudit: defineRead('/v1/audit/verify', {
    summary: 'Verify the audit log',
    description: 'Recomputes the hash chain and names the first entry that does not match.',
    query: z.object({ chain }),
    responses: {
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
    handle: async ({ ctx, scope, query }) => verifyStoredChain(ctx, chainInScope(scope, query.chain)),
  }),

  exportAudit: defineRead('/v1/audit/export', {
    summary: 'Export the audit log',
    description: 'JSON lines with checkpoints, to be verified offline by `./svc audit verify FILE`.',
    query: z.object({ chain }),
    responses: { 200: 'application/jsonl' },
    handle: async ({ ctx, scope, query }) => exportAuditChain(ctx, chainInScope(scope, query.chain)),
  }),
})

/** Chains of several projects have no common order, so one must be named. */
function chainInScope(scope: Scope, which: z.infer<typeof chain>): string {
  if (which === 'organisation') return organisationChain(scope)
  const [projectId, another] = scope.projectIds
  if (projectId === undefined || another !== undefined) throw badRequest("header 'x-svc-project' is required")
  return projectId
}

/** Tells of people and of other projects: nothing for a key, which sees only its own project. */
function organisationChain({ actor, role, orgId }: Scope): string {
  if (actor.kind !== 'member') throw forbidden('a key sees only the chain of its project')
  if (!isRoleAtLeast(role, 'admin')) throw forbidden(`role '${role}' cannot do this`)
  return orgId
}

function toAuditEntryView({ seq, ts, actor_kind, actor_id, action, subject, data, prev_hash, hash }: AuditEntryRow) {
  return {
    seq,
    ts,
    actor: { kind: actor_kind, id: actor_id },
    action,
    subject,
    data: parseEntryData(data),
    prev_hash,
    hash,
  }
}

/** What somebody wrote past the service may not be JSON: it is shown as it is, and verify names it. */
function parseEntryData(text: string): Json {
  const data = tryParseJson(text)
  return data === undefined ? text : data
}

const numberOr = (text: string | undefined, fallback: number) => (text === undefined ? fallback : Number(text))
