import { z } from 'zod'
import { audit } from '../audit/append.ts'
import { notFound } from '../base/problem.ts'
import { inTx } from '../ctx/ctx.ts'
import { filter, page, pageById, pageOf } from '../http/page.ts'
import { created, inScope, noContent, read, write, nameRoutes } from '../http/route.ts'
import { showTask, TaskRecord } from '../tasks/record.ts'
import { fireNow } from './fire.ts'
import { changeSchedule, createSchedule, ScheduleChange, ScheduleInput } from './plan.ts'
import { ScheduleRecord, showSchedule } from './record.ts'
import { dropSchedule, findSchedule, listSchedules } from './rows.ts'

const scheduleInScope = inScope('schedule', findSchedule)

export const scheduleRoutes = nameRoutes({
  listSchedules: read('/v1/schedules', {
    summary: 'List schedules, newest first',
    query: z.object({ wedge: filter, ...pageById('sch') }),
    answers: { 200: pageOf(ScheduleRecord) },
    async handle({ ctx, scope, query }) {
      const rows = await listSchedules(ctx.db, scope.projectIds, query)
      return page(rows, query.limit, (row) => row.id, showSchedule)
    },
  }),

  createSchedule: write('POST', '/v1/schedules', {
    summary: 'Create a schedule',
    body: ScheduleInput,
    answers: { 201: ScheduleRecord },
    async handle({ ctx, scope, body }) {
      const row = await createSchedule(ctx, scope, body)
      return created(`/v1/schedules/${row.id}`, showSchedule(row))
    },
  }),

  getSchedule: read('/v1/schedules/:id', {
    summary: 'Read a schedule',
    answers: { 200: ScheduleRecord },
    find: scheduleInScope,
    handle: async ({ subject }) => showSchedule(subject),
  }),

  updateSchedule: write('PUT', '/v1/schedules/:id', {
    summary: 'Change a schedule; what is left out stays',
    body: ScheduleChange,
    answers: { 200: ScheduleRecord },
    find: scheduleInScope,
    handle: async ({ ctx, scope, subject, body }) => showSchedule(await changeSchedule(ctx, scope, subject, body)),
  }),

  deleteSchedule: write('DELETE', '/v1/schedules/:id', {
    summary: 'Delete a schedule; the tasks that it made stay',
    answers: { 204: z.null() },
    find: scheduleInScope,
    async handle({ ctx, scope, subject }) {
      await inTx(ctx, async (tx) => {
        if (!(await dropSchedule(tx.db, subject.id))) throw notFound('schedule')
        await audit(tx, subject.project_id, scope.actor, 'schedule.deleted', subject.id, { name: subject.name })
      })
      return noContent()
    },
  }),

  runSchedule: write('POST', '/v1/schedules/:id/run', {
    summary: 'Fire a schedule now; its due times stay as they are',
    answers: { 201: TaskRecord },
    find: scheduleInScope,
    async handle({ ctx, scope, subject }) {
      const task = await fireNow(ctx, subject, scope.actor)
      return created(`/v1/tasks/${task.id}`, showTask(task, []))
    },
  }),
})
