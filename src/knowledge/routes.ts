import { z } from 'zod'
import { audit } from '../audit/append.ts'
import { inTx } from '../ctx/ctx.ts'
import { jsonObject } from '../http/judge.ts'
import { page, pageById, pageOf, pageQuery } from '../http/page.ts'
import { created, inScope, noContent, read, write, nameRoutes } from '../http/route.ts'
import { enabledWedgeAt, wedgeAt } from '../wedges/enabled.ts'
import { summaryOf, wedgeSummary } from '../wedges/routes.ts'
import { enabledWedges } from '../wedges/rows.ts'
import { changeItem, createItem, removeItem } from './items.ts'
import { findItem, type Item, KINDS, listItems, listRevisions } from './rows.ts'

const item = z.object({
  id: z.string(),
  project_id: z.string(),
  wedge: z.string(),
  name: z.string(),
  content: z.string(),
  kind: z.enum(KINDS),
  source: z.string().nullable(),
  metadata: jsonObject,
  task_id: z.string().nullable(),
  version: z.number().int(),
  created_at: z.string(),
  updated_at: z.string(),
})

const itemInScope = inScope('knowledge item', findItem)

const text = z.object({ name: z.string(), content: z.string() })
const fields = {
  name: z.string().trim().min(1).max(200),
  content: z.string().min(1).max(200_000),
  kind: z.enum(KINDS),
  source: z.string().max(500).nullable().optional(),
  metadata: jsonObject.optional(),
}

/** The page that a wedge's detail shows; the rest is in the list. */
const LIVE_SHOWN = 200

const revision = z.object({
  version: z.number().int(),
  name: z.string(),
  content: z.string(),
  kind: z.enum(KINDS),
  by: z.object({ kind: z.string(), id: z.string() }),
  at: z.string(),
})

export const knowledgeRoutes = nameRoutes({
  getWedge: read('/v1/wedges/:wedge', {
    summary: 'A wedge: its manifest, skills, authored and live knowledge',
    answers: {
      200: wedgeSummary.extend({
        skills: z.array(text),
        knowledge: z.object({
          authored: z.array(text),
          live: z.array(item).meta({ description: `the newest ${LIVE_SHOWN}` }),
        }),
      }),
    },
    find: ({ ctx, params }) => wedgeAt(ctx, params.wedge ?? ''),
    async handle({ ctx, scope, subject: wedge }) {
      const enabled = await enabledWedges(ctx.db, scope.projectIds)
      const live = await listItems(ctx.db, scope.projectIds, { wedge: wedge.slug, limit: LIVE_SHOWN })
      return {
        ...summaryOf(ctx, wedge, enabled),
        skills: wedge.skills,
        knowledge: { authored: wedge.knowledge, live: live.slice(0, LIVE_SHOWN) },
      }
    },
  }),

  listKnowledge: read('/v1/wedges/:wedge/knowledge', {
    summary: 'List the live knowledge of a wedge',
    query: z.object({ ...pageById('kn'), kind: z.enum(KINDS).optional() }),
    answers: { 200: pageOf(item) },
    find: ({ ctx, params }) => wedgeAt(ctx, params.wedge ?? ''),
    async handle({ ctx, scope, query, subject }) {
      const rows = await listItems(ctx.db, scope.projectIds, { ...query, wedge: subject.slug })
      return page(
        rows,
        query.limit,
        ({ id }) => id,
        (row) => row,
      )
    },
  }),

  createKnowledge: write('POST', '/v1/wedges/:wedge/knowledge', {
    summary: 'Add knowledge: it grounds the very next run',
    body: z.object({ ...fields, kind: fields.kind.default('note') }),
    answers: { 201: item },
    find: ({ ctx, scope, params }) => enabledWedgeAt(ctx, scope, params.wedge ?? ''),
    handle: ({ ctx, scope, body, subject }) =>
      inTx(ctx, async (tx) => {
        const added = await createItem(tx, scope.actor, { ...body, projectId: scope.projectId, wedge: subject.slug })
        await audit(tx, scope.projectId, scope.actor, 'knowledge.created', added.id, told(added))
        return created(`/v1/knowledge/${added.id}`, added)
      }),
  }),

  getKnowledge: read('/v1/knowledge/:id', {
    summary: 'A knowledge item',
    answers: { 200: item },
    find: itemInScope,
    handle: async ({ subject }) => subject,
  }),

  updateKnowledge: write('PUT', '/v1/knowledge/:id', {
    summary: 'Change a knowledge item; the earlier versions stay readable',
    body: z.object({
      ...fields,
      name: fields.name.optional(),
      content: fields.content.optional(),
      kind: fields.kind.optional(),
    }),
    answers: { 200: item },
    find: itemInScope,
    async handle({ ctx, scope, body, subject }) {
      const change = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined))
      if (Object.keys(change).length === 0) return subject
      return inTx(ctx, async (tx) => {
        const changed = await changeItem(tx, scope.actor, subject, change)
        await audit(tx, scope.projectId, scope.actor, 'knowledge.updated', changed.id, told(changed))
        return changed
      })
    },
  }),

  deleteKnowledge: write('DELETE', '/v1/knowledge/:id', {
    summary: 'Delete a knowledge item and its revisions',
    answers: { 204: z.null() },
    find: itemInScope,
    handle: ({ ctx, scope, subject }) =>
      inTx(ctx, async (tx) => {
        await removeItem(tx, subject)
        await audit(tx, scope.projectId, scope.actor, 'knowledge.deleted', subject.id, told(subject))
        return noContent()
      }),
  }),

  listKnowledgeRevisions: read('/v1/knowledge/:id/revisions', {
    summary: 'Every version of a knowledge item, the newest first',
    query: z.object(pageQuery(/^[1-9]\d{0,9}$/)),
    answers: { 200: pageOf(revision) },
    find: itemInScope,
    async handle({ ctx, query, subject }) {
      const rows = await listRevisions(ctx.db, subject, query.limit, query.cursor ? Number(query.cursor) : null)
      return page(
        rows,
        query.limit,
        ({ version }) => String(version),
        ({ version, name, content, kind, by_kind, by_id, at }) => ({
          version,
          name,
          content,
          kind,
          by: { kind: by_kind, id: by_id },
          at,
        }),
      )
    },
  }),
})

const told = ({ wedge, kind, version }: Item) => ({ wedge, kind, version })
