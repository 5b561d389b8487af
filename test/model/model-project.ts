import { isDeepStrictEqual } from 'node:util'
import { expect } from 'vitest'
import { expireDueApprovals } from '../../src/lifecycle/expire-approvals.ts'
import { fireDueSchedules } from '../../src/schedules/fire-schedules.ts'
import { type GatedApp } from '../approvals/gated-app.ts'
import { respondJson } from '../fake-upstream.ts'
import { expectCompleteLog } from '../faults/invariants.ts'
import type { ApiResponse } from '../http.ts'
import { toRequest } from './action-requests.ts'
import { type ExpectedResponse, byName, type VisibleState } from './model-state.ts'
import type { ModelAction } from './model-step.ts'

/** A project of its own on a running service, and the names that its things have in the reference. */
export interface ModelProject {
  desk: GatedApp
  id: string
  key: string
  /** The owner's, who alone may enable wedges. */
  session: string
  names: Map<string, string>
  ids: Map<string, string>
}

type Row = ApiResponse['body']

export async function createModelProject(desk: GatedApp, session: string): Promise<ModelProject> {
  desk.outside.respond = ({ body }, response) => {
    if (!JSON.parse(body).hold) respondJson(response, 200, { done: true })
  }
  const { body: made } = await desk.call('POST', '/v1/projects', { name: 'model' }, { key: session })
  const headers = { 'x-svc-project': made.id }
  const { body } = await desk.call('POST', '/v1/keys', { name: 'model' }, { key: session, headers })
  const crm = { kind: 'custom', name: 'crm', config: { api_url: `${desk.outside.url}/crm` } }
  const { body: connection } = await desk.call('POST', '/v1/connections', crm, { key: body.key })
  await desk.call('POST', `/v1/connections/${connection.id}/secret`, { value: 'of-crm' }, { key: body.key })
  return { desk, id: made.id, key: body.key, session, names: new Map(), ids: new Map() }
}

/** Does it over HTTP, and learns the name of what the answer shows. */
export async function performAction(
  project: ModelProject,
  action: ModelAction,
  subject: string,
  expected: ExpectedResponse,
): Promise<number> {
  const { desk, ids, names } = project
  if (action.do === 'advance') return advance(desk, action.ms)
  const { method, path, body, key = null, owner = false } = toRequest(project, action, subject)
  const answer = await desk.call(method, path, body, {
    key: owner ? project.session : project.key,
    headers: key === null ? {} : { 'idempotency-key': key },
  })
  const id = answer.body?.id
  if (answer.status !== expected.status || expected.shows === undefined) return answer.status
  // What is shown again is the same thing; a record that was deleted comes back as another.
  if (names.has(id)) expect(names.get(id)).toBe(expected.shows)
  names.set(id, expected.shows)
  ids.set(expected.shows, id)
  return answer.status
}

/** In one leap; the sweeps are asked for, so that none is missed. */
async function advance({ clock, ctx }: GatedApp, ms: number): Promise<number> {
  clock.jump(ms)
  await expireDueApprovals(ctx)
  await fireDueSchedules(ctx)
  return 200
}

/** Waits for the project to look as it should; answers how it looks then, or in the end. */
export async function waitForState(project: ModelProject, expected: VisibleState): Promise<VisibleState> {
  for (let looks = 0; ; looks++) {
    const seen = await readVisibleState(project)
    if (isDeepStrictEqual(seen, expected) || looks === MAX_READS) return seen
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

const MAX_READS = 300

/** Ends what still goes on, and checks every log and the chain. */
export async function expectCompleteProject(project: ModelProject): Promise<void> {
  const { desk, key } = project
  const call = (method: string, path: string) => desk.call(method, path, undefined, { key })
  const events = (taskId: string) => desk.events(taskId, { key })
  for (const task of await listAll(project, '/v1/tasks')) {
    if (!task.finished_at) await call('POST', `/v1/tasks/${task.id}/cancel`)
    await expectCompleteLog({ call, events }, task.id)
  }
  expect((await call('GET', '/v1/audit/verify')).body).toMatchObject({ ok: true })
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
  const known = connections.filter(({ name }) => name !== 'crm')
  const sent = project.desk.outside.received.map(({ headers }) => headers['idempotency-key'])
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
    connections: named(known, ({ name: called, has_secret: hasSecret }) => ({ called, hasSecret })),
    lessons: lessons.length,
    effects: approvals
      .flatMap(({ approval_id, task_id }) => sent.filter((key) => key === approval_id).map(() => nameOf(task_id) ?? ''))
      .toSorted(),
  }
}

/** Tasks that a schedule made by itself are called after it, in the order in which it made them. */
function nameScheduledTasks({ names, ids }: ModelProject, tasks: Row[]): void {
  const made = new Map<string, number>()
  for (const { id, schedule_id } of tasks.toReversed()) {
    if (schedule_id === null) continue
    made.set(schedule_id, (made.get(schedule_id) ?? 0) + 1)
    const name = `${names.get(schedule_id)}#${made.get(schedule_id)}`
    names.set(id, name)
    ids.set(name, id)
  }
}

async function listAll({ desk, key }: ModelProject, path: string): Promise<Row[]> {
  const { status, body } = await desk.call('GET', `${path}?limit=200`, undefined, { key })
  expect(status).toBe(200)
  return body.data
}
