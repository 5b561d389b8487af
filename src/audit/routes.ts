import { z } from 'zod'
import { badRequest, forbidden } from '../platform/base/problem.ts'
import { isRoleAtLeast, type Scope } from '../platform/ctx/scope.ts'
import { filterParam, pageQuery, pageSchema, toPage } from '../platform/http/page.ts'
import { defineRead, nameRoutes } from '../platform/http/route.ts'
import { exportAuditChain } from './export.ts'
import { listAuditEntries } from './rows.ts'
import { verifyStoredChain } from './verify.ts'
import { AuditEntryView, AuditVerificationView, toAuditEntryView } from './view.ts'

const chain = z.enum(['project', 'organisation']).default('project')
const seq = z
  .string()
  .regex(/^\d{1,15}$/, 'must be a whole number of at least 0')
  .meta({ type: 'integer', pattern: undefined, minimum: 0 })

export const auditRoutes = nameRoutes({
  listAuditEntries: defineRead('/v1/audit', {
    summary: 'List audit log entries, newest first',
    description:
      'The log of one project: a member of several names it in `X-SVC-Project`. `chain=organisation` is the log of members and projects, only for members with the role admin or owner.',
    query: z.object({
      ...pageQuery(/^[1-9]\d{0,14}$/),
      chain,
      action: filterParam,
      subject: filterParam,
      from_seq: seq.optional(),
      to_seq: seq.optional(),
    }),
    longRead: true,
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
    longRead: true,
    responses: { 200: AuditVerificationView },
    handle: async ({ ctx, scope, query }) => verifyStoredChain(ctx, chainInScope(scope, query.chain)),
  }),

  exportAudit: defineRead('/v1/audit/export', {
    summary: 'Export the audit log',
    description: 'JSON lines with checkpoints, to be verified offline by `./svc audit verify FILE`.',
    query: z.object({ chain }),
    longRead: true,
    responses: { 200: 'application/jsonl' },
    handle: async ({ ctx, scope, query }) => exportAuditChain(ctx, chainInScope(scope, query.chain)),
  }),
})

/** Every project has its own chain, so a caller with several projects must name one. */
function chainInScope(scope: Scope, which: z.infer<typeof chain>): string {
  if (which === 'organisation') return organisationChain(scope)
  const [projectId, another] = scope.projectIds
  if (projectId === undefined || another !== undefined) throw badRequest("header 'x-svc-project' is required")
  return projectId
}

/** This chain records members and all projects, so project keys cannot read it. */
function organisationChain({ actor, role, orgId }: Scope): string {
  if (actor.kind !== 'member') throw forbidden('a key can read only the audit log of its project')
  if (!isRoleAtLeast(role, 'admin')) throw forbidden(`role '${role}' cannot do this`)
  return orgId
}

const numberOr = (text: string | undefined, fallback: number) => (text === undefined ? fallback : Number(text))
