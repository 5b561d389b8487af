import { describe, expect, test } from 'vitest'
import { addProject, signUpOwner } from '../../identity/accounts/members.ts'
import { ECHO_WEDGE, anyStore, sharedApp, testApp } from '../../app.ts'
import type { CallOptions } from '../../http.ts'
import { runScript, scriptedAgentFolder } from '../../execution/runs/scripted-agent.ts'

const cases = { stages: ['new', 'assessing', 'paid'], initial: 'new' }
const WEDGES = {
  ...ECHO_WEDGE,
  'claims/wedge.json': { wedge: 'claims', task_types: { assess: {}, bundled: {} }, cases },
  'claims/rehearsals/bundled.json': [
    { call: { tool: 'case_update', input: { id: '{{input.other}}', case_id: '{{input.other}}', stage: 'paid' } } },
    { call: { tool: 'case_get', input: { id: '{{input.other}}', case_id: '{{input.other}}' } } },
    { output: '{{last}}' },
  ],
  'returns/wedge.json': { wedge: 'returns', task_types: { assess: {} }, cases },
}
const agents = scriptedAgentFolder()

/** An agent that reads its case, tries to read and change the case with this id, and then changes its own. */
const tryToReach = (id: string, project = '') => `
  const other = ${JSON.stringify({ id, case_id: id, case: id, project_id: project, wedge: 'returns' })}
  const query = new URLSearchParams(other)
  const seen = []
  for (const path of ['case', 'case?' + query]) seen.push(await ask('GET', '/v1/internal/' + path))
  const moved = await ask('PUT', '/v1/internal/case?' + query, { ...other, title: brief.task.id, stage: 'paid' })
  const refused = []
  for (const path of ['internal/case/', 'internal/cases/', 'internal/case/..%2fcases%2f', 'cases/']) {
    refused.push((await ask('GET', '/v1/' + path + other.id)).status)
    refused.push((await ask('PUT', '/v1/' + path + other.id, { stage: 'paid' })).status)
  }
  say({ output: { briefCase: brief.case?.id ?? null, seen, moved, refused } })`

anyStore((store) => {
  const app = sharedApp({ store, wedges: WEDGES, env: agents })
  const open = async (wedge = 'claims', options: CallOptions = {}) =>
    (await app().call('POST', '/v1/cases', { wedge, data: { of: wedge } }, options)).body
  const caseOf = async (id: string, options: CallOptions = {}) =>
    (await app().call('GET', `/v1/cases/${id}`, undefined, options)).body

  /** Runs a task on the case until it has ended. */
  async function runOnCase(caseId: string, js: string): Promise<AgentReport> {
    const body = { task_type: 'assess', input: { js } }
    const { status, body: task } = await app().call('POST', `/v1/cases/${caseId}/tasks`, body)
    expect(status).toBe(201)
    const { status: ended, output, error } = await app().finished(task.id)
    expect({ ended, error }).toEqual({ ended: 'succeeded', error: null })
    return { task: task.id, ...(output as Omit<AgentReport, 'task'>) }
  }

  describe('the agent of a task on a case', () => {
    test('an agent reaches the case of its task, and not the case of a concurrent task', async () => {
      const [first, second] = [await open(), await open()]
      const pairs = [
        [first, second],
        [second, first],
      ]
      const both = await Promise.all(pairs.map(([own, other]) => runOnCase(own.id, tryToReach(other.id))))
      for (const [own, reached] of [
        [first, both[0]],
        [second, both[1]],
      ]) {
        expectOnly(reached, own.id)
        const { title, history } = await caseOf(own.id)
        expect(title).toBe(reached.task)
        expect(history.map(({ by }: Moved) => by.id)).toEqual([own.history[0].by.id, reached.task])
      }
    })

    test('an agent reaches no case of another wedge', async () => {
      const [own, other] = [await open(), await open('returns')]
      expectOnly(await runOnCase(own.id, tryToReach(other.id)), own.id)
      expect(await caseOf(other.id)).toEqual(other)
    })

    test('an agent reaches no case of another project', async () => {
      const { key, project } = await addProject(app(), await signUpOwner(app()))
      const [own, other] = [await open(), await open('claims', { key })]
      expectOnly(await runOnCase(own.id, tryToReach(other.id, project)), own.id)
      expect(await caseOf(other.id, { key })).toEqual(other)
    })
  })

  test('the bundled agent, which uses its pipe, reaches only the case of its task', async () => {
    const app = await testApp({ store, wedges: WEDGES })
    const open = async () => (await app.call('POST', '/v1/cases', { wedge: 'claims' })).body
    const [own, other] = [await open(), await open()]
    const spawn = { task_type: 'bundled', input: { other: other.id } }
    const { body: task } = await app.call('POST', `/v1/cases/${own.id}/tasks`, spawn)
    expect(await app.finished(task.id)).toMatchObject({ status: 'succeeded', output: { id: own.id, stage: 'paid' } })
    expect((await app.call('GET', `/v1/cases/${other.id}`)).body).toEqual(other)
  })

  describe('the agent of a task without a case', () => {
    test('an agent of a task without a case reaches no case, even if it names one', async () => {
      const { id } = await open()
      const js = tryToReach(id)
      const { task } = await runScript(app(), js, { wedge: 'claims', task_type: 'assess', case_id: id })
      expect(task).toMatchObject({ status: 'succeeded', case_id: null })
      const { briefCase, seen, moved, refused } = task.output
      expect(briefCase).toBe(null)
      for (const response of [...seen, moved])
        expect(response).toEqual({ status: 404, body: { error: 'no such case' } })
      expect(new Set(refused)).toEqual(new Set([404]))
      expect(await caseOf(id)).toMatchObject({ stage: 'new', task_ids: [] })
    })
  })
})

interface Moved {
  by: { id: string }
}

interface AgentReport {
  task: string
  briefCase: string | null
  seen: CaseResponse[]
  moved: CaseResponse
  refused: number[]
}

interface CaseResponse {
  status: number
  body: { id: string }
}

/** Expects that the agent read and changed only this case. */
function expectOnly({ briefCase, seen, moved, refused }: AgentReport, id: string): void {
  expect(briefCase).toBe(id)
  for (const response of [...seen, moved])
    expect(response).toMatchObject({ status: 200, body: { id, wedge: 'claims' } })
  expect(moved).toMatchObject({ body: { stage: 'paid' } })
  expect(new Set(refused)).toEqual(new Set([404]))
}
