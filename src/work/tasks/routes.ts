import { z } from 'zod'
import { readTraceHeaders, TRACE_HEADERS } from '../../platform/base/trace-context.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import { EventView } from '../events/event-types.ts'
import { listFilesOfTasks, listTaskFiles } from '../files/rows.ts'
import { IGNORED_FIELDS_HEADER, ignoredFieldsHeader } from '../../platform/http/ignored-fields.ts'
import { filterParam, pageQueryById, pageSchema, timeParam, toPage } from '../../platform/http/page.ts'
import {
  createdResponse,
  defineRead,
  defineWrite,
  findInScope,
  HttpResponse,
  nameRoutes,
} from '../../platform/http/route.ts'
import type { TaskRow } from '../../platform/store/tables.ts'
import { serveArtifact } from './artifacts.ts'
import { createTask, TaskConstraintsInput, TaskRequest } from './create-task.ts'
import { giveTaskFeedback, TaskFeedbackInput } from './feedback.ts'
import { IDEMPOTENCY_KEY_BOUNDS, readIdempotencyKey } from './idempotency.ts'
import { readQueueWaits } from './queue-reason.ts'
import { findArtifact, findTask, findTaskHead, listArtifacts, listTasks } from './rows.ts'
import { TASK_STATUSES } from './status.ts'
import { streamTask, TaskStreamQuery, taskStreamHeaders } from './stream.ts'
import { TaskFeedbackView, TaskView, toTaskView } from './view.ts'

/** The task of a path, or 404 if it does not exist in the caller's scope. */
export const taskInScope = findInScope('task', findTask)
const headInScope = findInScope('task', findTaskHead)
const artifactInScope = findInScope('artifact', findArtifact)

export async function readTaskView(ctx: Ctx, task: TaskRow) {
  const waits = await readQueueWaits(ctx, [task])
  const artifacts = await listArtifacts(ctx.db, [task.id])
  return toTaskView(task, artifacts, waits.get(task.id), await listTaskFiles(ctx.db, task.id))
}

/** A task that was just created. Most have no files, so that nothing more is read for them. */
export async function readNewTaskView(ctx: Ctx, task: TaskRow, fileIds: readonly string[] = []) {
  return toTaskView(task, [], null, fileIds.length === 0 ? [] : await listTaskFiles(ctx.db, task.id))
}

const TaskInput = TaskRequest.extend({
  client_id: z.string().nullish().meta({ description: 'The client for whom the task is. The task is erased with it.' }),
  constraints: TaskConstraintsInput.loose().optional(),
}).loose()

export const taskRoutes = nameRoutes({
  createTask: defineWrite('POST', '/v1/tasks', {
    summary: 'Create a task',
    description:
      'The task is queued, and an agent runs it as soon as there is a free slot: the response does not wait for it. Limits in `constraints` are lowered to those of the deployment and the task type. 403 if the project has not enabled the wedge, 429 above its task rate.',
    headers: {
      read: {
        'Idempotency-Key': {
          description:
            'the same key with the same body returns the same task for 24 hours; with another body it is 409',
          ...IDEMPOTENCY_KEY_BOUNDS,
        },
        ...TRACE_HEADERS,
      },
      sent: {
        'idempotency-replayed': '`true` if an earlier request with this key created the task',
        [IGNORED_FIELDS_HEADER]:
          'the fields of the body that the service does not know, such as `constraints.max_steps`',
      },
    },
    body: TaskInput,
    responses: { 201: TaskView },
    async handle({ ctx, scope, body, request }) {
      const key = readIdempotencyKey(request)
      const { task, replayed } = await createTask(ctx, scope, body, key, readTraceHeaders(request.headers))
      const shown = replayed ? await readTaskView(ctx, task) : await readNewTaskView(ctx, task, body.files)
      return createdResponse(`/v1/tasks/${task.id}`, shown, {
        ...(replayed && { 'idempotency-replayed': 'true' }),
        ...ignoredFieldsHeader(TaskInput, body),
      })
    },
  }),

  listTasks: defineRead('/v1/tasks', {
    summary: 'List tasks, newest first',
    description:
      'Tasks of all projects that the credential reaches, with their inputs, outputs and costs. For a live list use `GET /v1/stream` and read the tasks that it names.',
    query: z.object({
      status: z.enum(TASK_STATUSES).optional(),
      wedge: filterParam,
      client_id: filterParam,
      case_id: filterParam,
      expired_since: timeParam
        .optional()
        .meta({ description: 'Only tasks that expired at this time or later and were not run again.' }),
      ...pageQueryById('task'),
    }),
    longRead: true,
    responses: { 200: pageSchema(TaskView) },
    async handle({ ctx, scope, query }) {
      const rows = await listTasks(ctx.db, scope.projectIds, query)
      const ids = rows.map((row) => row.id)
      const artifacts = await listArtifacts(ctx.db, ids)
      const files = await listFilesOfTasks(ctx.db, ids)
      const waits = await readQueueWaits(ctx, rows)
      return toPage(
        rows,
        query.limit,
        (row) => row.id,
        (row) =>
          toTaskView(
            row,
            artifacts.filter((a) => a.task_id === row.id),
            waits.get(row.id),
            files.filter((file) => file.task_id === row.id),
          ),
      )
    },
  }),

  getTask: defineRead('/v1/tasks/:id', {
    summary: 'Read a task',
    description:
      'With status, output, error, cost, artifacts and files. `queue_reason` says why a queued task does not start, and `log_pruned_at` that retention has removed its events and files.',
    responses: { 200: TaskView },
    find: taskInScope,
    handle: ({ ctx, subject }) => readTaskView(ctx, subject),
  }),

  followTask: defineRead('/v1/tasks/:id/events', {
    summary: 'Follow the events of a task',
    description:
      'Server-sent events: replays what comes after `Last-Event-ID`, then continues live until the task ends. 204 if the task has ended and no event is left.',
    headers: taskStreamHeaders,
    query: TaskStreamQuery,
    responses: { 200: { eventStreamOf: EventView }, 204: z.null() },
    find: headInScope,
    handle: ({ ctx, subject, request, query }) => streamTask(ctx, subject, request, query, null),
  }),

  createTaskFeedback: defineWrite('POST', '/v1/tasks/:id/feedback', {
    summary: 'Rate or correct a run',
    description: 'A correction or note becomes knowledge for later runs.',
    body: TaskFeedbackInput,
    responses: { 201: TaskFeedbackView },
    find: taskInScope,
    async handle({ ctx, scope, subject, body }) {
      const given = await giveTaskFeedback(ctx, scope, subject, body)
      return given.knowledge_id === null
        ? new HttpResponse(201, given)
        : createdResponse(`/v1/knowledge/${given.knowledge_id}`, given)
    },
  }),

  getArtifact: defineRead('/v1/artifacts/:id', {
    summary: 'Download an artifact',
    description:
      'The bytes of a file that the agent wrote, or `output.json`, which is the output of the task. Types that a browser could execute, such as HTML, are sent as downloads.',
    responses: { 200: '*/*' },
    find: artifactInScope,
    handle: ({ ctx, subject }) => serveArtifact(ctx, subject),
  }),
})
