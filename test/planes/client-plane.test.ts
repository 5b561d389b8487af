import { expect, test, vi } from 'vitest'
import { inTx } from '../../src/ctx/ctx.ts'
import { appendEvents } from '../../src/events/append-events.ts'
import { CLIENT_EVENT_TYPES } from '../../src/events/client-frames.ts'
import type { NewEvent } from '../../src/events/event-types.ts'
import { planTask } from '../../src/tasks/create-task.ts'
import { writeTaskEnding } from '../../src/lifecycle/task-ending.ts'
import { insertTask } from '../../src/tasks/rows.ts'
import { eachStore } from '../stores.ts'
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

// Thousands of requests: a busy machine needs its time.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 120_000 })

/** Names of fields that a client never reads, and words that only the founder wrote. */
const INTERNAL =
  /"[a-z_]*(cost|approval|project|org_id|epoch|replica|policy|decided|metadata|secret|hash|channel_id|connection_id|version|history)[a-z_]*":|"error":|prj_|conn_|apr_|between us|1,234 dollars/

eachStore((store) => {
  const estate = sharedTwoTenants(store)

  test('what is not the client’s own does not exist', async () => {
    const app = estate()
    const ada = await openPortalSession(app, app.ownProject)
    const strange = await strangeIds(app)
    const before = await readAllRows(app)
    for (const route of CLIENT_ROUTES.filter(({ path }) => pathKinds(path).length > 0)) {
      const [kind = ''] = pathKinds(route.path)
      const answers = new Set<string>()
      await inParallel([...(strange[kind] ?? []), ...MALFORMED, app.ownProject.ids.clients ?? ''], async (id) => {
        for (const body of route.method === 'GET' ? [{}] : BODIES) {
          const path = fillPath(route.path, { [kind]: id })
          const answer = await sendRequest(app, route.method, path, { authorization: bearer(ada), ...body })
          expect(answer.status, `${route.method} ${path}: ${answer.text}`).toBe(404)
          answers.add(JSON.stringify(answer))
        }
      })
      expect([...answers], routeName(route)).toHaveLength(1)
    }
    expect(await readAllRows(app)).toEqual(before)
  })

  test('no answer of the portal tells anything internal or anything of others', async () => {
    const app = estate()
    const { ids } = app.ownProject
    const ada = await openPortalSession(app, app.ownProject)
    const strange = Object.values(await strangeIds(app)).flat()
    await app.call('PUT', `/v1/clients/${ids.clients}`, { metadata: { note: 'between us' } })
    await app.call('PUT', `/v1/cases/${ids.cases}`, { data: { worth: '1,234 dollars' }, note: 'between us' })
    await app.call('POST', `/v1/tasks/${ids.tasks}/feedback`, { note: 'between us', rating: 1 })
    await waitUntilIdle(app)
    for (const route of CLIENT_ROUTES.filter(({ method }) => method === 'GET')) {
      const answer = await sendRequest(app, 'GET', fillPath(route.path, ids), { authorization: bearer(ada) })
      expect(answer.status, routeName(route)).toBe(200)
      expect(answer.text, routeName(route)).not.toMatch(INTERNAL)
      expect(
        strange.filter((id) => answer.text.includes(id)),
        routeName(route),
      ).toEqual([])
    }
    const sent = await app.call('POST', `/v1/portal/threads/${ids.threads}/messages`, { body: 'news?' }, { key: ada })
    expect([sent.status, JSON.stringify(sent.body)]).toEqual([201, expect.not.stringMatching(INTERNAL)])
    await waitUntilIdle(app)
  })

  test('the log reaches a client without costs, approvals or reasons, replayed and live', async () => {
    const app = estate()
    const ada = await openPortalSession(app, app.ownProject)
    const task = await runningTask(app)
    const path = `/v1/portal/tasks/${task}/events`
    const live = app.events(task, { path, key: ada })
    const whole = app.events(task)
    await expect.poll(() => app.ctx.logFollowers.isFollowed(task)).toBe(true)
    await inTx(app.ctx, (tx) => appendEvents(tx, { taskId: task, epoch: 0 }, EVENTS))
    const error = { reason: 'model_failed' as const, message: 'approval apr_1 in prj_1 cost 1,234 dollars' }
    await inTx(app.ctx, (tx) => writeTaskEnding(tx, task, { status: 'failed', error }))
    const readable = CLIENT_EVENT_TYPES
    for (const events of [await live, await app.events(task, { path, key: ada })]) {
      expect(events.map(({ event }) => event).toSorted()).toEqual(readable.toSorted())
      expect(JSON.stringify(events)).not.toMatch(INTERNAL)
      expect(events.at(-1)?.data).toMatchObject({ type: 'task.finished', data: { status: 'failed' } })
    }
    expect((await whole).map(({ event }) => event)).toHaveLength(13)
    expect((await whole).at(-1)?.data.data.error).toEqual(error)
    for (let after = 1; after <= 14; after++) {
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

/** What another client of the project, a client of another one and the founder have. */
async function strangeIds(app: TwoTenantApp): Promise<Record<string, string[]>> {
  const mail = { from: { handle: 'bob@example.com', name: 'Bob' }, body: 'Mine?', external_id: 'of-bob' }
  const bob = (await app.call('POST', `/v1/channels/${app.ownProject.ids.channels}/inbound`, mail)).body
  const own = (await app.call('POST', '/v1/tasks', { wedge: 'desk', task_type: 'triage' })).body
  const theirs = await app.call('POST', '/v1/cases', { wedge: 'desk', client_id: bob.client_id })
  await waitUntilIdle(app)
  const elsewhere = (kind: string) => [app.siblingProject, app.foreignProject].map(({ ids }) => ids[kind] ?? '')
  return {
    tasks: [bob.task_id, own.id, ...elsewhere('tasks')],
    threads: [bob.thread_id, ...elsewhere('threads')],
    artifacts: [...elsewhere('artifacts'), 'art_00000000000000000000000000'],
    cases: [theirs.body.id, ...elsewhere('cases')],
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

/** One of each type but the last; what is internal is marked. */
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
    data: { artifact_id: 'art_1', name: 'a.txt', content_type: 'text/plain', size: 1, url: '/v1/artifacts/art_1' },
  },
]
