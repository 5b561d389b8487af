import { isDeepStrictEqual } from 'node:util'
import { expect } from 'vitest'
import { expireDueApprovals } from '../../src/approvals/lifecycle/expire-approvals.ts'
import { fireDueSchedules } from '../../src/automation/schedules/fire-schedules.ts'
import { type GatedApp } from '../approvals/decisions/gated-app.ts'
import { respondJson } from '../fake-upstream.ts'
import { expectCompleteLog } from '../faults/invariants.ts'
import { expectExactReport } from '../insight/analytics/expected-report.ts'
import type { ApiResponse } from '../http.ts'
import { toRequest } from './action-requests.ts'
import { type ExpectedResponse, byName, type VisibleState } from './model-state.ts'
import type { ModelAction } from './model-step.ts'

/** A separate project of a running service, with the names that the model gives to its objects. */
export interface ModelProject {
  app: GatedApp
  id: string
  key: string
  /** The session of the owner, because only an owner can enable wedges. */
  session: string
  names: Map<string, string>
  ids: Map<string, string>
}

type Row = ApiResponse['body']

export async function createModelProject(app: GatedApp, session: string): Promise<ModelProject> {
  app.outside.respond = ({ body }, response) => {
    if (!JSON.parse(body).hold) respondJson(response, 200, { done: true })
  }
  const { body: project } = await app.call('POST', '/v1/projects', { name: 'model' }, { key: session })
  const headers = { 'x-svc-project': project.id }
  const { body } = await app.call('POST', '/v1/keys', { name: 'model' }, { key: session, headers })
  const crm = { kind: 'custom', name: 'crm', config: { api_url: `${app.outside.url}/crm` } }
  const { body: connection } = await app.call('POST', '/v1/connections', crm, { key: body.key })
  await app.call('POST', `/v1/connections/${connection.id}/secret`, { value: 'of-crm' }, { key: body.key })
  return { app, id: project.id, key: body.key, session, names: new Map(), ids: new Map() }
}

/** Sends the action over HTTP, and stores the model name of the object in the response. */
export async function performAction(
  project: ModelProject,
  action: ModelAction,
  subject: string,
  expected: ExpectedResponse,
): Promise<number> {
  const { app, ids, names } = project
  if (action.do === 'advance') return advance(app, action.ms)
  const { method, path, body, key = null, owner = false } = toRequest(project, action, subject)
  const response = await app.call(method, path, body, {
    key: owner ? project.session : project.key,
    headers: key === null ? {} : { 'idempotency-key': key },
  })
  const id = response.body?.id
  if (response.status !== expected.status || expected.subject === undefined) return response.status
  // An id always has the same name. A record that was deleted and created again has a new id.
  if (names.has(id)) expect(names.get(id)).toBe(expected.subject)
  names.set(id, expected.subject)
  ids.set(expected.subject, id)
  return response.status
}

/** Moves the clock at once and runs the sweeps, so that the result does not depend on their timers. */
async function advance({ clock, ctx }: GatedApp, ms: number): Promise<number> {
  clock.jump(ms)
  await expireDueApprovals(ctx)
  await fireDueSchedules(ctx)
  return 200
}

/** Polls until the project has the expected state, and returns the last state read. */
export async function waitForState(project: ModelProject, expected: VisibleState): Promise<VisibleState> {
  for (let reads = 0; ; reads++) {
    const state = await readVisibleState(project)
    if (isDeepStrictEqual(state, expected) || reads === MAX_READS) return state
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

const MAX_READS = 300

/** Cancels unfinished tasks, and checks every output, every event log, the audit chain and the report. */
export async function expectCompleteProject(project: ModelProject): Promise<void> {
  const { app, key } = project
  const call = (method: string, path: string) => app.call(method, path, undefined, { key })
  const events = (taskId: string) => app.events(taskId, { key })
  for (const task of await listAll(project, '/v1/tasks')) {
    if (!task.finished_at) await call('POST', `/v1/tasks/${task.id}/cancel`)
    const ended = await expectCompleteLog({ call, events }, task.id)
    if (ended.status === 'succeeded') expect(ended.output).toMatchObject(undisturbedOutput(ended))
  }
  expect((await call('GET', '/v1/audit/verify')).body).toMatchObject({ ok: true })
  await expectExactReport(call, app.ctx.db)
}

/** The output of a run that waits in its cell. Most runs of the model leave it, because the clock moves by minutes. */
function undisturbedOutput({ task_type, input, output }: Row): object {
  if (task_type === 'book') return { booked: true }
  if (task_type === 'say') return { said: input }
  if (input.action === 'hold') return { ok: false }
  const payload = output.edited ? { ...input.payload, text: 'bye' } : input.payload
  return { ok: true, status: 200, result: { done: true }, payload }
}

async function readVisibleState(project: ModelProject): Promise<VisibleState> {
  const paths = ['tasks', 'approvals', 'cases', 'records', 'schedules', 'connections', 'wedges/gate/knowledge']
  const lists = await Promise.all(paths.map((path) => listAll(project, `/v1/${path}`)))
  const [tasks = [], approvals = [], cases = [], records = [], schedules = [], connections = [], lessons = []] = lists
  nameScheduledTasks(project, tasks)
  const nameOf = (id: string | null) => (id === null ? null : (project.names.get(id) ?? `unknown ${id}`))
  const named = <T>(rows: Row[], show: (row: Row) => T) =>
    byName(rows.map((row) => ({ name: nameOf(row.id ?? row.task_id) ?? '', ...show(row) })))
  for (const row of approvals) project.ids.set(`approval of ${nameOf(row.task_id)}`, row.approval_id)
  const withoutCrm = connections.filter(({ name }) => name !== 'crm')
  const sent = project.app.outside.received.map(({ headers }) => headers['idempotency-key'])
  return {
    tasks: named(tasks, (row) => ({
      status: row.status,
      reason: row.error?.reason ?? null,
      retryOf: nameOf(row.retry_of),
      onCase: nameOf(row.case_id),
      bySchedule: nameOf(row.schedule_id),
    })),
    approvals: named(approvals, ({ status, edited }) => ({ status, edited: edited !== null })),
    cases: named(cases, ({ stage, status, history, task_ids }) => ({
      stage,
      status,
      entries: history.length,
      tasks: task_ids.map(nameOf).toSorted(),
    })),
    records: named(records, ({ value, version }) => ({ value, version })),
    schedules: named(schedules, ({ enabled, last_task_id, last_error, next_run_at: next }) => ({
      enabled,
      lastTask: nameOf(last_task_id),
      failed: last_error !== null,
      next,
    })),
    connections: named(withoutCrm, ({ name: label, has_secret: hasSecret }) => ({ label, hasSecret })),
    lessons: lessons.length,
    effects: approvals
      .flatMap(({ approval_id, task_id }) => sent.filter((key) => key === approval_id).map(() => nameOf(task_id) ?? ''))
      .toSorted(),
  }
}

/** Names the tasks of a schedule after it, numbered in the order of their creation. */
function nameScheduledTasks({ names, ids }: ModelProject, tasks: Row[]): void {
  const counts = new Map<string, number>()
  for (const { id, schedule_id } of tasks.toReversed()) {
    if (schedule_id === null) continue
    counts.set(schedule_id, (counts.get(schedule_id) ?? 0) + 1)
    const name = `${names.get(schedule_id)}#${counts.get(schedule_id)}`
    names.set(id, name)
    ids.set(name, id)
  }
}

async function listAll({ app, key }: ModelProject, path: string): Promise<Row[]> {
  const { status, body } = await app.call('GET', `${path}?limit=200`, undefined, { key })
  expect(status).toBe(200)
  return body.data
}
