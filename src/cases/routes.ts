import { z } from 'zod'
import { filter, pageById, pageOf } from '../http/page.ts'
import { created, inScope, read, write, nameRoutes } from '../http/route.ts'
import { showTask, TaskRecord } from '../tasks/record.ts'
import { taskInScope } from '../tasks/routes.ts'
import { CASE_STATUSES, CaseRecord } from './record.ts'
import { CaseChange, changeCase } from './move.ts'
import { CaseInput, openCase } from './open.ts'
import { showCases, showOne } from './read.ts'
import { retry } from './retry.ts'
import { findCase, listCases } from './rows.ts'
import { CaseTaskInput, spawnTask } from './spawn.ts'

const caseInScope = inScope('case', findCase)

export const caseRoutes = nameRoutes({
  listCases: read('/v1/cases', {
    summary: 'List cases, newest first',
    query: z.object({
      wedge: filter,
      status: z.enum(CASE_STATUSES).optional(),
      stage: filter,
      client_id: filter,
      ...pageById('case'),
    }),
    answers: { 200: pageOf(CaseRecord) },
    async handle({ ctx, scope, query }) {
      const rows = await listCases(ctx.db, scope.projectIds, query)
      const data = await showCases(ctx.db, rows.slice(0, query.limit))
      return { data, next_cursor: rows.length > query.limit ? (data.at(-1)?.id ?? null) : null }
    },
  }),

  createCase: write('POST', '/v1/cases', {
    summary: 'Open a case',
    body: CaseInput,
    answers: { 201: CaseRecord },
    async handle({ ctx, scope, body }) {
      const row = await openCase(ctx, scope, body)
      return created(`/v1/cases/${row.id}`, await showOne(ctx.db, row))
    },
  }),

  getCase: read('/v1/cases/:id', {
    summary: 'Read a case with its history and its tasks',
    answers: { 200: CaseRecord },
    find: caseInScope,
    handle: ({ ctx, subject }) => showOne(ctx.db, subject),
  }),

  updateCase: write('PUT', '/v1/cases/:id', {
    summary: 'Move, change, close or reopen a case; what is left out stays',
    body: CaseChange,
    answers: { 200: CaseRecord },
    find: caseInScope,
    handle: async ({ ctx, scope, subject, body }) => showOne(ctx.db, await changeCase(ctx, subject, body, scope.actor)),
  }),

  createCaseTask: write('POST', '/v1/cases/:id/tasks', {
    summary: 'Create a task on a case; 409 when the case is closed',
    body: CaseTaskInput,
    answers: { 201: TaskRecord },
    find: caseInScope,
    async handle({ ctx, scope, subject, body }) {
      const task = await spawnTask(ctx, subject, body, scope.actor)
      return created(`/v1/tasks/${task.id}`, showTask(task, []))
    },
  }),

  retryTask: write('POST', '/v1/tasks/:id/retry', {
    summary: 'Run a finished task again, as a new task; 409 when its case is closed',
    answers: { 201: TaskRecord },
    find: taskInScope,
    async handle({ ctx, scope, subject }) {
      const task = await retry(ctx, subject, scope.actor)
      return created(`/v1/tasks/${task.id}`, showTask(task, []))
    },
  }),
})
