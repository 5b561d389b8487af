import { z } from 'zod'
import { appendAuditEntry } from '../../audit/append.ts'
import { inTx } from '../../platform/ctx/ctx.ts'
import { pageQuery, pageQueryById, pageSchema, toPage } from '../../platform/http/page.ts'
import {
  createdResponse,
  defineRead,
  defineWrite,
  findInScope,
  nameRoutes,
  noContentResponse,
} from '../../platform/http/route.ts'
import { jsonObject } from '../../platform/http/validate.ts'
import { requireEnabledPathWedge, requirePathWedge } from '../library/enabled-wedges.ts'
import { listEnabledWedges } from '../library/rows.ts'
import { toWedgeSummaryView } from '../library/view.ts'
import { changeKnowledgeItem, createKnowledgeItem, removeKnowledgeItem } from './items.ts'
import { findKnowledgeItem, KNOWLEDGE_KINDS, type KnowledgeItem, listKnowledgeItems, listRevisions } from './rows.ts'
import {
  KnowledgeItemView,
  KnowledgeRevisionView,
  MAX_SHOWN_LIVE_ITEMS,
  toRevisionView,
  toSkillFolderView,
  toTaskTypeViews,
  WedgeView,
} from './view.ts'

const itemInScope = findInScope('knowledge item', findKnowledgeItem)

const itemFields = {
  name: z.string().trim().min(1).max(200),
  content: z.string().min(1).max(200_000),
  kind: z.enum(KNOWLEDGE_KINDS),
  source: z.string().max(500).nullable().optional(),
  metadata: jsonObject.optional(),
}

export const knowledgeRoutes = nameRoutes({
  getWedge: defineRead('/v1/wedges/:wedge', {
    summary: 'Read a wedge',
    description: 'With manifest, input schemas and example inputs, skills, and authored and live knowledge.',
    responses: { 200: WedgeView },
    find: ({ ctx, params }) => requirePathWedge(ctx, params.wedge ?? ''),
    async handle({ ctx, scope, subject: wedge }) {
      const enabled = await listEnabledWedges(ctx.db, scope.projectIds)
      const live = await listKnowledgeItems(ctx.db, scope.projectIds, {
        wedge: wedge.slug,
        limit: MAX_SHOWN_LIVE_ITEMS,
      })
      return {
        ...toWedgeSummaryView(ctx, wedge, enabled),
        task_types: toTaskTypeViews(wedge),
        skills: wedge.skills,
        skill_folders: wedge.skillFolders.map(toSkillFolderView),
        knowledge: { authored: wedge.knowledge, live: live.slice(0, MAX_SHOWN_LIVE_ITEMS) },
      }
    },
  }),

  listKnowledge: defineRead('/v1/wedges/:wedge/knowledge', {
    summary: 'List the live knowledge of a wedge',
    description:
      'What the project has taught the agents of a wedge: notes, answers and corrections. What the authors of the wedge wrote is in `GET /v1/wedges/{wedge}`.',
    query: z.object({ ...pageQueryById('kn'), kind: z.enum(KNOWLEDGE_KINDS).optional() }),
    longRead: true,
    responses: { 200: pageSchema(KnowledgeItemView) },
    find: ({ ctx, params }) => requirePathWedge(ctx, params.wedge ?? ''),
    async handle({ ctx, scope, query, subject }) {
      const rows = await listKnowledgeItems(ctx.db, scope.projectIds, { ...query, wedge: subject.slug })
      return toPage(
        rows,
        query.limit,
        ({ id }) => id,
        (row) => row,
      )
    },
  }),

  createKnowledge: defineWrite('POST', '/v1/wedges/:wedge/knowledge', {
    summary: 'Create a knowledge item',
    description: 'The next run uses it.',
    body: z.object({ ...itemFields, kind: itemFields.kind.default('note') }),
    responses: { 201: KnowledgeItemView },
    find: ({ ctx, scope, params }) => requireEnabledPathWedge(ctx, scope, params.wedge ?? ''),
    handle: ({ ctx, scope, body, subject }) =>
      inTx(ctx, async (tx) => {
        const added = await createKnowledgeItem(tx, scope.actor, {
          ...body,
          projectId: scope.projectId,
          wedge: subject.slug,
        })
        await appendAuditEntry(tx, scope.projectId, scope.actor, 'knowledge.created', added.id, auditData(added))
        return createdResponse(`/v1/knowledge/${added.id}`, added)
      }),
  }),

  getKnowledge: defineRead('/v1/knowledge/:id', {
    summary: 'Read a knowledge item',
    description: 'The current version, with its full content. Earlier versions are its revisions.',
    responses: { 200: KnowledgeItemView },
    find: itemInScope,
    handle: async ({ subject }) => subject,
  }),

  updateKnowledge: defineWrite('PUT', '/v1/knowledge/:id', {
    summary: 'Update a knowledge item',
    description: 'Earlier versions stay readable as revisions.',
    body: z.object({
      ...itemFields,
      name: itemFields.name.optional(),
      content: itemFields.content.optional(),
      kind: itemFields.kind.optional(),
    }),
    responses: { 200: KnowledgeItemView },
    find: itemInScope,
    async handle({ ctx, scope, body, subject }) {
      const change = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined))
      if (Object.keys(change).length === 0) return subject
      return inTx(ctx, async (tx) => {
        const changed = await changeKnowledgeItem(tx, scope.actor, subject, change)
        await appendAuditEntry(tx, scope.projectId, scope.actor, 'knowledge.updated', changed.id, auditData(changed))
        return changed
      })
    },
  }),

  deleteKnowledge: defineWrite('DELETE', '/v1/knowledge/:id', {
    summary: 'Delete a knowledge item and its revisions',
    description: 'Later runs no longer know it; a run that has started keeps what it was given. This cannot be undone.',
    responses: { 204: z.null() },
    find: itemInScope,
    handle: ({ ctx, scope, subject }) =>
      inTx(ctx, async (tx) => {
        await removeKnowledgeItem(tx, subject)
        await appendAuditEntry(tx, scope.projectId, scope.actor, 'knowledge.deleted', subject.id, auditData(subject))
        return noContentResponse()
      }),
  }),

  listKnowledgeRevisions: defineRead('/v1/knowledge/:id/revisions', {
    summary: 'List the revisions of a knowledge item, newest first',
    description:
      'Every version with its content, the time, and who wrote it: a member, a key or the service. Deleting the item deletes them.',
    query: z.object(pageQuery(/^[1-9]\d{0,9}$/)),
    longRead: true,
    responses: { 200: pageSchema(KnowledgeRevisionView) },
    find: itemInScope,
    async handle({ ctx, query, subject }) {
      const rows = await listRevisions(ctx.db, subject, query.limit, query.cursor ? Number(query.cursor) : null)
      return toPage(rows, query.limit, ({ version }) => String(version), toRevisionView)
    },
  }),
})

const auditData = ({ wedge, kind, version }: KnowledgeItem) => ({ wedge, kind, version })
