import { z } from 'zod'
import { appendAuditEntry } from '../../audit/append.ts'
import { notFound } from '../../platform/base/problem.ts'
import { inTx } from '../../platform/ctx/ctx.ts'
import { filterParam, pageQueryById, pageSchema, toPage } from '../../platform/http/page.ts'
import {
  createdResponse,
  defineRead,
  defineWrite,
  findInScope,
  nameRoutes,
  noContentResponse,
} from '../../platform/http/route.ts'
import { TaskView, toTaskView } from '../../work/tasks/view.ts'
import { fireScheduleNow } from './fire-schedules.ts'
import { deleteScheduleWithSlots, findSchedule, listSchedules } from './rows.ts'
import { changeSchedule, createSchedule, ScheduleChange, ScheduleInput } from './schedules.ts'
import { ScheduleView, toScheduleView } from './view.ts'

const scheduleInScope = findInScope('schedule', findSchedule)

export const scheduleRoutes = nameRoutes({
  listSchedules: defineRead('/v1/schedules', {
    summary: 'List schedules, newest first',
    description:
      'With the next due time, the last task, and why the last start failed. A disabled schedule has no next due time.',
    query: z.object({ wedge: filterParam, ...pageQueryById('sch') }),
    longRead: true,
    responses: { 200: pageSchema(ScheduleView) },
    async handle({ ctx, scope, query }) {
      const rows = await listSchedules(ctx.db, scope.projectIds, query)
      return toPage(rows, query.limit, (row) => row.id, toScheduleView)
    },
  }),

  createSchedule: defineWrite('POST', '/v1/schedules', {
    summary: 'Create a schedule',
    description:
      'Creates a task at each due time, from now on. Without `enabled: false` it is active at once. Several due times that pass while the service is down start one task together.',
    body: ScheduleInput,
    responses: { 201: ScheduleView },
    async handle({ ctx, scope, body }) {
      const row = await createSchedule(ctx, scope, body)
      return createdResponse(`/v1/schedules/${row.id}`, toScheduleView(row))
    },
  }),

  getSchedule: defineRead('/v1/schedules/:id', {
    summary: 'Read a schedule',
    description: 'With the next due time, the last task, and why the last start failed.',
    responses: { 200: ScheduleView },
    find: scheduleInScope,
    handle: async ({ subject }) => toScheduleView(subject),
  }),

  updateSchedule: defineWrite('PUT', '/v1/schedules/:id', {
    summary: 'Update a schedule',
    description: 'Fields that are left out keep their value.',
    body: ScheduleChange,
    responses: { 200: ScheduleView },
    find: scheduleInScope,
    handle: async ({ ctx, scope, subject, body }) => toScheduleView(await changeSchedule(ctx, scope, subject, body)),
  }),

  deleteSchedule: defineWrite('DELETE', '/v1/schedules/:id', {
    summary: 'Delete a schedule',
    description: 'The tasks that it created stay.',
    responses: { 204: z.null() },
    find: scheduleInScope,
    async handle({ ctx, scope, subject }) {
      await inTx(ctx, async (tx) => {
        if (!(await deleteScheduleWithSlots(tx.db, subject.id))) throw notFound('schedule')
        await appendAuditEntry(tx, subject.project_id, scope.actor, 'schedule.deleted', subject.id, {
          name: subject.name,
        })
      })
      return noContentResponse()
    },
  }),

  runSchedule: defineWrite('POST', '/v1/schedules/:id/run', {
    summary: 'Run a schedule now',
    description: 'Its due times do not change.',
    responses: { 201: TaskView },
    find: scheduleInScope,
    async handle({ ctx, scope, subject }) {
      const task = await fireScheduleNow(ctx, subject, scope.actor)
      return createdResponse(`/v1/tasks/${task.id}`, toTaskView(task, []))
    },
  }),
})
