import { expect, test, vi } from 'vitest'
import { inTx } from '../../../src/platform/ctx/ctx.ts'
import { appendEvents } from '../../../src/work/events/append-events.ts'
import { CLIENT_EVENT_TYPES } from '../../../src/work/events/client-frames.ts'
import type { NewEvent } from '../../../src/work/events/event-types.ts'
import { planTask } from '../../../src/work/tasks/create-task.ts'
import { writeTaskEnding } from '../../../src/approvals/lifecycle/task-ending.ts'
import { insertTask } from '../../../src/work/tasks/rows.ts'
import { anyStore } from '../../stores.ts'
import { type TwoTenantApp, openPortalSession, waitUntilIdle, sharedTwoTenants } from './two-tenants.ts'
import { readAllRows } from './all-rows.ts'
import {
  sendRequest,
  bearer,
  CLIENT_ROUTES,
  pathKinds,
  routeName,
  fillPath,
  type RequestOptions,
  inParallel,
} from './route-table.ts'

// Thousands of requests take minutes on a busy machine.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 120_000 })

/** Fields that a client must never read, and texts that only the founder wrote. */
const INTERNAL =
  /"[a-z_]*(cost|approval|project|org_id|epoch|replica|policy|decided|metadata|secret|hash|channel_id|connection_id|version|history)[a-z_]*":|"error":|prj_|conn_|apr_|between us|1,234 dollars/

anyStore((store) => {
  const tenants = sharedTwoTenants(store)

  test('a resource of another client is the same 404 as an absent one', async () => {
    const app = tenants()
    const ada = await openPortalSession(app, app.ownProject)
    const others = await otherIds(app)
    const before = await readAllRows(app)
    for (const route of CLIENT_ROUTES.filter(({ path }) => pathKinds(path).length > 0)) {
      const [kind = ''] = pathKinds(route.path)
      const responses = new Set<string>()
      await inParallel([...(others[kind] ?? []), ...MALFORMED, app.ownProject.ids.clients ?? ''], async (id) => {
        for (const body of route.method === 'GET' ? [{}] : BODIES) {
          const path = fillPath(route.path, { [kind]: id })
          const response = await sendRequest(app, route.method, path, { authorization: bearer(ada), ...body })
          expect(response.status, `${route.method} ${path}: ${response.text}`).toBe(404)
          responses.add(JSON.stringify(response))
        }
      })
      expect([...responses], routeName(route)).toHaveLength(1)
    }
    expect(await readAllRows(app)).toEqual(before)
  })

  test('responses of the portal contain nothing internal and nothing of other clients', async () => {
    const app = tenants()
    const { ids } = app.ownProject
    const ada = await openPortalSession(app, app.ownProject)
    const others = Object.values(await otherIds(app)).flat()
    await app.call('PUT', `/v1/clients/${ids.clients}`, { metadata: { note: 'between us' } })
    await app.call('PUT', `/v1/cases/${ids.cases}`, { data: { worth: '1,234 dollars' }, note: 'between us' })
    await app.call('POST', `/v1/tasks/${ids.tasks}/feedback`, { note: 'between us', rating: 1 })
    await waitUntilIdle(app)
    for (const route of CLIENT_ROUTES.filter(({ method }) => method === 'GET')) {
      const response = await sendRequest(app, 'GET', fillPath(route.path, ids), { authorization: bearer(ada) })
      expect(response.status, routeName(route)).toBe(200)
      // The client knows the ids of what it is asked, and when its approvals were decided.
      const known = [ids.questions, ids.approvals, route.path === '/v1/portal/approvals' && '"decided_at":']
      const unknown = known.reduce<string>((text, one) => (one ? text.replaceAll(one, '') : text), response.text)
      expect(unknown, routeName(route)).not.toMatch(INTERNAL)
      expect(
        others.filter((id) => response.text.includes(id)),
        routeName(route),
      ).toEqual([])
    }
    const sent = await app.call('POST', `/v1/portal/threads/${ids.threads}/messages`, { body: 'news?' }, { key: ada })
    expect([sent.status, JSON.stringify(sent.body)]).toEqual([201, expect.not.stringMatching(INTERNAL)])
    await waitUntilIdle(app)
  })

  test('a client gets the events of its task without costs, approvals and errors, on replay and live', async () => {
    const app = tenants()
    const ada = await openPortalSession(app, app.ownProject)
    const task = await runningTask(app)
    const path = `/v1/portal/tasks/${task}/events`
    const live = app.events(task, { path, key: ada })
    const founderEvents = app.events(task)
    await expect.poll(() => app.ctx.logFollowers.isFollowed(task)).toBe(true)
    await inTx(app.ctx, (tx) => appendEvents(tx, { taskId: task, epoch: 0 }, EVENTS))
    const error = { reason: 'model_failed' as const, message: 'approval apr_1 in prj_1 cost 1,234 dollars' }
    await inTx(app.ctx, (tx) => writeTaskEnding(tx, task, { status: 'failed', error }))
    for (const events of [await live, await app.events(task, { path, key: ada })]) {
      expect(events.map(({ event }) => event).toSorted()).toEqual(CLIENT_EVENT_TYPES.toSorted())
      expect(JSON.stringify(events)).not.toMatch(INTERNAL)
      expect(events.at(-1)?.data).toMatchObject({ type: 'task.finished', data: { status: 'failed' } })
    }
    expect(await founderEvents).toHaveLength(13)
    expect((await founderEvents).at(-1)?.data.data.error).toEqual(error)
    for (let after = 1; after < 13; after++) {
      const rest = await app.events(task, { path, key: ada, after })
      expect(rest.every(({ event, id }) => CLIENT_EVENT_TYPES.includes(event) && Number(id) > after)).toBe(true)
    }
  })
})

const MALFORMED = ['..%2f', 'x'.repeat(300), '%20', "'", '%F0%9F%92%A9', '__proto__', 'null']
const BODIES: RequestOptions[] = [
  {},
  { raw: '{"' },
  { json: { body: 'hello' } },
  { json: { body: 'x'.repeat(10_001) } },
]

/** Ids of another client of the project, of the founder, and of other projects. */
async function otherIds(app: TwoTenantApp): Promise<Record<string, string[]>> {
  const mail = { from: { handle: 'bob@example.com', name: 'Bob' }, body: 'Mine?', external_id: 'of-bob' }
  const bob = (await app.call('POST', `/v1/channels/${app.ownProject.ids.channels}/inbound`, mail)).body
  const founderTask = (await app.call('POST', '/v1/tasks', { wedge: 'desk', task_type: 'triage' })).body
  const caseOfBob = await app.call('POST', '/v1/cases', { wedge: 'desk', client_id: bob.client_id })
  await waitUntilIdle(app)
  const elsewhere = (kind: string) => [app.siblingProject, app.foreignProject].map(({ ids }) => ids[kind] ?? '')
  return {
    tasks: [bob.task_id, founderTask.id, ...elsewhere('tasks')],
    threads: [bob.thread_id, ...elsewhere('threads')],
    artifacts: [...elsewhere('artifacts'), 'art_00000000000000000000000000'],
    cases: [caseOfBob.body.id, ...elsewhere('cases')],
  }
}

async function runningTask(app: TwoTenantApp): Promise<string> {
  const { projects = '', clients = null } = app.ownProject.ids
  const plan = await planTask(
    app.ctx,
    { projectId: projects },
    { wedge: 'desk', task_type: 'triage' },
    { client_id: clients },
  )
  await inTx(app.ctx, async (tx) => {
    await insertTask(tx.db, { ...plan, status: 'running' })
    await tx.db.updateTable('tasks').set({ started_at: plan.created_at }).where('id', '=', plan.id).execute()
  })
  return plan.id
}

/** One event of each type except the last. Internal texts are marked with `between us`. */
const EVENTS: NewEvent[] = [
  {
    type: 'task.created',
    data: { wedge: 'desk', task_type: 'triage', status: 'running', sandbox: 'between us', model: 'between us' },
  },
  { type: 'step.started', data: { step: 1, label: 'look' } },
  { type: 'token.delta', data: { text: 'between us' } },
  { type: 'tool.called', data: { call_id: 'c1', tool: 'act', input: { path: 'between us' } } },
  {
    type: 'approval.requested',
    data: { approval_id: 'apr_1', action: 'mail', risk: 'high', preview: {}, expires_at: '' },
  },
  { type: 'approval.resolved', data: { approval_id: 'apr_1', action: 'mail', decision: 'approved' } },
  { type: 'tool.result', data: { call_id: 'c1', tool: 'act', ok: true, output: { body: 'between us' } } },
  { type: 'progress', data: { text: 'almost' } },
  { type: 'cost.charged', data: { model: 'm', input_tokens: 1, output_tokens: 1, cost_usd: 1, total_usd: 1 } },
  { type: 'feedback.recorded', data: { source: 'task', knowledge_id: null, note: 'between us' } },
  { type: 'output.validated', data: { ok: false, errors: [{ path: '$', message: 'between us' }] } },
  {
    type: 'artifact.created',
    data: {
      artifact_id: 'art_1',
      name: 'client/a.txt',
      content_type: 'text/plain',
      size: 1,
      url: '/v1/artifacts/art_1',
    },
  },
]
