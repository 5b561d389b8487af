import { z } from 'zod'
import type { Ctx } from '../ctx/ctx.ts'
import { filter, page, pageById, pageOf } from '../http/page.ts'
import { Answer, created, inScope, read, write, nameRoutes } from '../http/route.ts'
import type { Tasks } from '../store/tables.ts'
import { idempotencyKey } from './admission.ts'
import { serveArtifact } from './artifacts.ts'
import { createTask, TaskInput } from './create.ts'
import { Feedback, giveFeedback } from './feedback.ts'
import { showTask, TaskRecord } from './record.ts'
import { artifactsOf, findArtifact, findHead, findTask, listTasks } from './rows.ts'
import { STATUSES } from './status.ts'
import { StreamHeaders, StreamQuery, streamTask } from './stream.ts'

/** The task that a path names, if the caller may know of it. */
export const taskInScope = inScope('task', findTask)
const headInScope = inScope('task', findHead)
const artifactInScope = inScope('artifact', findArtifact)

export async function showWithArtifacts(ctx: Ctx, task: Tasks) {
  return showTask(task, await artifactsOf(ctx.db, [task.id]))
}

export const taskRoutes = nameRoutes({
  createTask: write('POST', '/v1/tasks', {
    summary: 'Create a task',
    headers: {
      read: {
        'Idempotency-Key': 'the same key with the same body gives the same task for 24 hours; with another it is 409',
      },
      answered: { 'idempotency-replayed': '`true` where the key had made the task before' },
    },
    body: TaskInput,
    answers: { 201: TaskRecord },
    async handle({ ctx, scope, body, request }) {
      const key = idempotencyKey(request)
      const { task, replayed } = await createTask(ctx, scope, body, key)
      const shown = replayed ? await showWithArtifacts(ctx, task) : showTask(task, [])
      return created(`/v1/tasks/${task.id}`, shown, replayed ? { 'idempotency-replayed': 'true' } : {})
    },
  }),

  listTasks: read('/v1/tasks', {
    summary: 'List tasks, newest first',
    query: z.object({
      status: z.enum(STATUSES).optional(),
      wedge: filter,
      client_id: filter,
      case_id: filter,
      ...pageById('task'),
    }),
    answers: { 200: pageOf(TaskRecord) },
    async handle({ ctx, scope, query }) {
      const rows = await listTasks(ctx.db, scope.projectIds, query)
      const artifacts = await artifactsOf(
        ctx.db,
        rows.map((row) => row.id),
      )
      return page(
        rows,
        query.limit,
        (row) => row.id,
        (row) =>
          showTask(
            row,
            artifacts.filter((a) => a.task_id === row.id),
          ),
      )
    },
  }),

  getTask: read('/v1/tasks/:id', {
    summary: 'Read a task',
    answers: { 200: TaskRecord },
    find: taskInScope,
    handle: ({ ctx, subject }) => showWithArtifacts(ctx, subject),
  }),

  followTask: read('/v1/tasks/:id/events', {
    summary: "Follow a task's log: replay after Last-Event-ID, then live",
    headers: StreamHeaders,
    query: StreamQuery,
    answers: { 200: 'text/event-stream' },
    find: headInScope,
    handle: async ({ ctx, subject, request, query }) => streamTask(ctx, subject, request, query, null),
  }),

  createTaskFeedback: write('POST', '/v1/tasks/:id/feedback', {
    summary: 'Rate or correct a run; what it teaches becomes knowledge',
    body: Feedback,
    answers: { 201: z.object({ ok: z.boolean(), knowledge_id: z.string().nullable() }) },
    find: taskInScope,
    async handle({ ctx, scope, subject, body }) {
      const given = await giveFeedback(ctx, scope, subject, body)
      return given.knowledge_id === null
        ? new Answer(201, given)
        : created(`/v1/knowledge/${given.knowledge_id}`, given)
    },
  }),

  getArtifact: read('/v1/artifacts/:id', {
    summary: 'Fetch an artifact, raw',
    answers: { 200: '*/*' },
    find: artifactInScope,
    handle: async ({ subject }) => serveArtifact(subject),
  }),
})
