import { describe, expect, test } from 'vitest'
import { sandboxPlaneRoutes } from '../../src/planes/sandbox-plane.ts'
import { type GatedApp, sharedGatedApp, advanceUntilSettled, gatedWedgeFiles } from '../approvals/gated-app.ts'
import { eachStore } from '../app.ts'
import { routeName } from '../planes/route-table.ts'
import { scriptedAgentFolder, startScript } from '../runs/scripted-agent.ts'

/** What an agent can change: each call by its route, and what it leaves in the audit. */
const CALLS: Record<string, { leaves: string[]; path: string; body?: object }> = {
  'POST /v1/internal/gate': { path: 'gate', body: { tool: 'book_auto' }, leaves: ['approval.auto_approved'] },
  'POST /v1/internal/actions/:capability': {
    path: 'actions/crm:auto',
    body: { payload: {} },
    leaves: ['approval.auto_approved', 'action.executed'],
  },
  'GET /v1/internal/reads/:capability': { path: 'reads/crm?path=a', leaves: ['read.executed'] },
  'POST /v1/internal/reads/:capability': { path: 'reads/crm', body: { path: 'b' }, leaves: ['read.executed'] },
  'POST /v1/internal/records/:collection/:key': {
    path: 'records/notes/a',
    body: { value: 1 },
    leaves: ['record.created'],
  },
  'DELETE /v1/internal/records/:collection/:key': { path: 'records/notes/a', leaves: ['record.deleted'] },
  'PUT /v1/internal/case': { path: 'case', body: { stage: 'done' }, leaves: ['case.updated'] },
  'POST /v1/internal/knowledge/gap': { path: 'knowledge/gap', body: { question: 'When?' }, leaves: ['intake.asked'] },
}

const CHANGES_NOTHING = [
  // Refused.
  'PUT /v1/internal/reads/:capability',
  'PATCH /v1/internal/reads/:capability',
  'DELETE /v1/internal/reads/:capability',
  // What it costs is in the log of the task.
  'POST /v1/internal/llm/:wire/*',
  // Runs code that reaches nothing.
  'POST /v1/internal/workflows/:name',
]

const MANIFEST = {
  policy: { auto_approve: [{ action: 'book_auto' }, { action: 'crm:auto' }] },
  cases: { stages: ['new', 'done'], initial: 'new' },
}
const agents = scriptedAgentFolder()

const MAKE_CALLS = `
  const statuses = []
  for (const [route, { path, body }] of ${JSON.stringify(Object.entries(CALLS))}) {
    const token = path === 'gate' ? brief.service.gate_token : brief.service.task_token
    statuses.push((await ask(route.split(' ')[0], '/v1/internal/' + path, body, token)).status)
  }
  say({ output: statuses })`

const ASK = `ask('POST', '/v1/internal/gate', { tool: 'book_room' }, brief.service.gate_token)`
const ASK_TWICE = `await Promise.all([${ASK}, ${ASK}]); say({ output: 'never' })`
/** Gives its output as soon as somebody has seen the question. */
const ASK_AND_GO = `${ASK}.catch(() => {})
  while ((await ask('GET', '/v1/internal/records/go')).body.data.length === 0) await new Promise((r) => setTimeout(r, 20))
  say({ output: 'gone' })`

test('each route by which an agent can change something is tried here', () => {
  const routes = sandboxPlaneRoutes(null as never).map(routeName)
  const changing = routes.filter((name) => !name.startsWith('GET ') || name.includes('/reads/'))
  expect([...Object.keys(CALLS), ...CHANGES_NOTHING].toSorted()).toEqual(changing.toSorted())
})

eachStore((store) => {
  const desk = sharedGatedApp(store, { wedges: gatedWedgeFiles('gate', MANIFEST), env: agents })

  test('every decision, action, read and change of an agent leaves an entry in the audit', async () => {
    const { id } = (await desk().call('POST', '/v1/cases', { wedge: 'gate' })).body
    const spawned = await desk().call('POST', `/v1/cases/${id}/tasks`, { task_type: 'act', input: { js: MAKE_CALLS } })
    const { output } = await desk().finished(spawned.body.id)
    expect(output).toEqual([200, 200, 200, 200, 201, 204, 200, 200])
    const made = (await entries(desk(), '')).filter(({ actor, data }) =>
      [actor.id, data.task_id].includes(spawned.body.id),
    )
    expect(made.map(({ action }) => action)).toEqual(Object.values(CALLS).flatMap(({ leaves }) => leaves))
  })

  describe('each question that an agent asked has one entry that tells how it was decided', () => {
    const asking = (js: string) => startScript(desk(), js, { wedge: 'gate', task_type: 'act' })

    test('when its task is cancelled', async () => {
      const [approval] = await approvalsOf(desk(), await asking(`await ${ASK}`), 1)
      await desk().call('POST', `/v1/tasks/${approval?.task_id}/cancel`)
      expect(await decisions(desk(), approval)).toEqual(['key rejected'])
    })

    test('when another question of its task is rejected', async () => {
      const [one, other] = await approvalsOf(desk(), await asking(ASK_TWICE), 2)
      await desk().call('POST', `/v1/approvals/${one?.approval_id}/reject`)
      expect(await decisions(desk(), one)).toEqual(['key rejected'])
      expect(await decisions(desk(), other)).toEqual(['system rejected'])
    })

    test('when nobody decides', async () => {
      const task = await asking(ASK_TWICE)
      const both = await approvalsOf(desk(), task, 2)
      await desk().clock.advance(301_000)
      expect(await advanceUntilSettled(desk(), desk().finished(task))).toMatchObject({ status: 'expired' })
      for (const approval of both) expect(await decisions(desk(), approval)).toEqual(['system expired'])
    })

    test('when its agent goes without waiting for it', async () => {
      const task = await asking(ASK_AND_GO)
      const [approval] = await approvalsOf(desk(), task, 1)
      await desk().call('POST', '/v1/records', { wedge: 'gate', collection: 'go', key: 'k', value: 1 })
      expect(await desk().finished(task)).toMatchObject({ status: 'failed', error: { reason: 'agent_failed' } })
      expect(await decisions(desk(), approval)).toEqual(['system expired'])
    })
  })
})

interface Entry {
  actor: { kind: string; id: string }
  action: string
  data: { task_id?: string }
}

/** In the order in which they were written. */
async function entries(desk: GatedApp, query: string): Promise<Entry[]> {
  return (await desk.call('GET', `/v1/audit?limit=200${query}`)).body.data.toReversed()
}

interface Asked {
  approval_id: string
  task_id: string
}

/** What the task asks for, once it has asked so often. */
async function approvalsOf(desk: GatedApp, task: string, times: number): Promise<Asked[]> {
  let seen = 0
  await desk.events(task, { until: ({ event }) => event === 'approval.requested' && ++seen === times })
  return (await desk.call('GET', `/v1/approvals?task_id=${task}`)).body.data
}

async function decisions(desk: GatedApp, asked: Asked | undefined): Promise<string[]> {
  const told = await entries(desk, `&subject=${asked?.approval_id}`)
  return told.map(({ actor, action }) => `${actor.kind} ${action.replace('approval.', '')}`)
}
