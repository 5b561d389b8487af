import { describe, expect, test } from 'vitest'
import { sandboxPlaneRoutes } from '../../src/server/planes/sandbox-plane.ts'
import { anyStore } from '../app.ts'
import {
  advanceUntilSettled,
  type GatedApp,
  gatedWedgeFiles,
  sharedGatedApp,
} from '../approvals/decisions/gated-app.ts'
import { routeName } from '../server/planes/route-table.ts'
import { scriptedAgentFolder, startScript } from '../execution/runs/scripted-agent.ts'

/** Every route by which an agent can change something, with the audit actions that the call adds. */
const CALLS: Record<string, { actions: string[]; path: string; body?: object }> = {
  'POST /v1/internal/gate': { path: 'gate', body: { tool: 'book_auto' }, actions: ['approval.auto_approved'] },
  'POST /v1/internal/actions/:capability': {
    path: 'actions/crm:auto',
    body: { payload: {} },
    actions: ['approval.auto_approved', 'action.executed'],
  },
  'GET /v1/internal/reads/:capability': { path: 'reads/crm?path=a', actions: ['read.executed'] },
  'POST /v1/internal/reads/:capability': { path: 'reads/crm', body: { path: 'b' }, actions: ['read.executed'] },
  'POST /v1/internal/records/:collection/:key': {
    path: 'records/notes/a',
    body: { value: 1 },
    actions: ['record.created'],
  },
  'DELETE /v1/internal/records/:collection/:key': { path: 'records/notes/a', actions: ['record.deleted'] },
  'PUT /v1/internal/case': { path: 'case', body: { stage: 'done' }, actions: ['case.updated'] },
  'POST /v1/internal/knowledge/gap': { path: 'knowledge/gap', body: { question: 'When?' }, actions: ['intake.asked'] },
  'POST /v1/internal/files': {
    path: 'files',
    body: { name: 'a.txt', content_type: 'text/plain', content: 'YQ==' },
    actions: ['file.created'],
  },
}

const UNAUDITED_ROUTES = [
  // The answer is audited.
  'POST /v1/internal/ask',
  // Always refused.
  'PUT /v1/internal/reads/:capability',
  'PATCH /v1/internal/reads/:capability',
  'DELETE /v1/internal/reads/:capability',
  // Model calls are recorded in the task log.
  'POST /v1/internal/llm/:wire/*',
  // Workflow code has no access to anything outside.
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
/** Returns its output without waiting for the approval, once a record tells it to. */
const ASK_AND_FINISH = `${ASK}.catch(() => {})
  while ((await ask('GET', '/v1/internal/records/go')).body.data.length === 0) await new Promise((r) => setTimeout(r, 20))
  say({ output: 'gone' })`

test('this file calls every route by which an agent can change something', () => {
  const routes = sandboxPlaneRoutes(null as never).map(routeName)
  const changing = routes.filter((name) => !name.startsWith('GET ') || name.includes('/reads/'))
  expect([...Object.keys(CALLS), ...UNAUDITED_ROUTES].toSorted()).toEqual(changing.toSorted())
})

anyStore((store) => {
  const app = sharedGatedApp(store, { wedges: gatedWedgeFiles('gate', MANIFEST), env: agents })

  test('every approval, action, read and change of an agent adds an audit entry', async () => {
    const { id } = (await app().call('POST', '/v1/cases', { wedge: 'gate' })).body
    const spawned = await app().call('POST', `/v1/cases/${id}/tasks`, { task_type: 'act', input: { js: MAKE_CALLS } })
    const { output } = await app().finished(spawned.body.id)
    expect(output).toEqual([200, 200, 200, 200, 201, 204, 200, 200, 201])
    const added = (await listEntries(app(), '')).filter(({ actor, data }) =>
      [actor.id, data.task_id].includes(spawned.body.id),
    )
    expect(added.map(({ action }) => action)).toEqual(Object.values(CALLS).flatMap(({ actions }) => actions))
  })

  describe('every requested approval has one audit entry with its decision', () => {
    const startAgent = (js: string) => startScript(app(), js, { wedge: 'gate', task_type: 'act' })

    test('a cancelled task rejects its approval, with one audit entry', async () => {
      const [approval] = await waitForApprovals(app(), await startAgent(`await ${ASK}`), 1)
      await app().call('POST', `/v1/tasks/${approval?.task_id}/cancel`)
      expect(await decisions(app(), approval)).toEqual(['key rejected'])
    })

    test('rejecting one approval of a task rejects the others, with one audit entry each', async () => {
      const [one, other] = await waitForApprovals(app(), await startAgent(ASK_TWICE), 2)
      await app().call('POST', `/v1/approvals/${one?.approval_id}/reject`)
      expect(await decisions(app(), one)).toEqual(['key rejected'])
      expect(await decisions(app(), other)).toEqual(['system rejected'])
    })

    test('an approval without a decision expires, with one audit entry', async () => {
      const task = await startAgent(ASK_TWICE)
      const both = await waitForApprovals(app(), task, 2)
      await app().clock.advance(301_000)
      expect(await advanceUntilSettled(app(), app().finished(task))).toMatchObject({ status: 'expired' })
      for (const approval of both) expect(await decisions(app(), approval)).toEqual(['system expired'])
    })

    test('an approval expires when its agent ends without waiting, with one audit entry', async () => {
      const task = await startAgent(ASK_AND_FINISH)
      const [approval] = await waitForApprovals(app(), task, 1)
      await app().call('POST', '/v1/records', { wedge: 'gate', collection: 'go', key: 'k', value: 1 })
      expect(await app().finished(task)).toMatchObject({ status: 'failed', error: { reason: 'agent_failed' } })
      expect(await decisions(app(), approval)).toEqual(['system expired'])
    })
  })
})

interface Entry {
  actor: { kind: string; id: string }
  action: string
  data: { task_id?: string }
}

/** Audit entries, oldest first. */
async function listEntries(app: GatedApp, query: string): Promise<Entry[]> {
  return (await app.call('GET', `/v1/audit?limit=200${query}`)).body.data.toReversed()
}

interface RequestedApproval {
  approval_id: string
  task_id: string
}

/** The approvals of a task, once it has requested this many. */
async function waitForApprovals(app: GatedApp, task: string, count: number): Promise<RequestedApproval[]> {
  let seen = 0
  await app.events(task, { until: ({ event }) => event === 'approval.requested' && ++seen === count })
  return (await app.call('GET', `/v1/approvals?task_id=${task}`)).body.data
}

async function decisions(app: GatedApp, approval: RequestedApproval | undefined): Promise<string[]> {
  const found = await listEntries(app, `&subject=${approval?.approval_id}`)
  return found.map(({ actor, action }) => `${actor.kind} ${action.replace('approval.', '')}`)
}
