import { z } from 'zod'
import { readTraceHeaders, TRACE_HEADERS } from '../../platform/base/trace-context.ts'
import { toFileView } from '../files/view.ts'
import { filterParam, pageQueryById, pageSchema } from '../../platform/http/page.ts'
import { createdResponse, defineRead, defineWrite, findInScope, nameRoutes } from '../../platform/http/route.ts'
import { readNewTaskView } from '../tasks/routes.ts'
import { TaskView } from '../tasks/view.ts'
import { CaseUpdate, changeCaseByFounder } from './change-case.ts'
import { CaseTaskInput, createCaseTask } from './create-case-task.ts'
import { CaseInput, openCase } from './open-case.ts'
import { readCaseView, readCaseViews } from './read-cases.ts'
import { findCase, listCaseFiles, listCases, MAX_SHOWN_PER_CASE } from './rows.ts'
import { CASE_STATUSES, CaseFilesView, CaseView } from './view.ts'

const caseInScope = findInScope('case', findCase)

export const caseRoutes = nameRoutes({
  listCases: defineRead('/v1/cases', {
    summary: 'List cases, newest first',
    description:
      'With stage, data, history and the ids of the tasks of each case. `assignee_id=me` lists the cases of the member who asks.',
    query: z.object({
      wedge: filterParam,
      status: z.enum(CASE_STATUSES).optional(),
      stage: filterParam,
      client_id: filterParam,
      thread_id: filterParam,
      assignee_id: filterParam.meta({ description: 'The id of a member, or `me` for the member who asks.' }),
      ...pageQueryById('case'),
    }),
    longRead: true,
    responses: { 200: pageSchema(CaseView) },
    async handle({ ctx, scope, query }) {
      const assignee_id = query.assignee_id === 'me' ? scope.actor.id : query.assignee_id
      const rows = await listCases(ctx.db, scope.projectIds, { ...query, assignee_id })
      const data = await readCaseViews(ctx.db, rows.slice(0, query.limit))
      return { data, next_cursor: rows.length > query.limit ? (data.at(-1)?.id ?? null) : null }
    },
  }),

  createCase: defineWrite('POST', '/v1/cases', {
    summary: 'Create a case',
    description:
      'Starts no task: use `POST /v1/cases/{id}/tasks`. Without `stage` it begins at the initial stage of the wedge. 400 if the wedge has no cases.',
    body: CaseInput,
    responses: { 201: CaseView },
    async handle({ ctx, scope, body }) {
      const row = await openCase(ctx, scope, body)
      return createdResponse(`/v1/cases/${row.id}`, await readCaseView(ctx.db, row))
    },
  }),

  getCase: defineRead('/v1/cases/:id', {
    summary: 'Read a case with its history and tasks',
    description:
      'At most the newest 200 entries of the history and 200 task ids. The tasks themselves are in `GET /v1/tasks?case_id=`.',
    responses: { 200: CaseView },
    find: caseInScope,
    handle: ({ ctx, subject }) => readCaseView(ctx.db, subject),
  }),

  updateCase: defineWrite('PUT', '/v1/cases/:id', {
    summary: 'Update a case',
    description: 'Moves, assigns, closes or reopens it. Fields that are left out keep their value.',
    body: CaseUpdate,
    responses: { 200: CaseView },
    find: caseInScope,
    handle: async ({ ctx, scope, subject, body }) =>
      readCaseView(ctx.db, await changeCaseByFounder(ctx, scope, subject, body)),
  }),

  listCaseFiles: defineRead('/v1/cases/:id/files', {
    summary: 'List the files of a case',
    description: `The newest ${MAX_SHOWN_PER_CASE} files of its tasks and of its conversation, newest first.`,
    responses: { 200: CaseFilesView },
    find: caseInScope,
    handle: async ({ ctx, subject }) => ({ data: (await listCaseFiles(ctx.db, subject)).map(toFileView) }),
  }),

  createCaseTask: defineWrite('POST', '/v1/cases/:id/tasks', {
    summary: 'Create a task on a case',
    description: '409 if the case is closed.',
    headers: { read: TRACE_HEADERS },
    body: CaseTaskInput,
    responses: { 201: TaskView },
    find: caseInScope,
    async handle({ ctx, scope, subject, body, request }) {
      const task = await createCaseTask(ctx, subject, body, scope.actor, readTraceHeaders(request.headers))
      return createdResponse(`/v1/tasks/${task.id}`, await readNewTaskView(ctx, task, body.files))
    },
  }),
})
