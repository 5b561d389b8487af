import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, onTestFinished, test } from 'vitest'
import { eachStore, writeFiles } from '../app.ts'
import {
  CALLER_AGENT,
  type GatedApp,
  sharedGatedApp,
  openGatedApp,
  advanceUntilSettled,
  gatedWedgeFiles,
} from './gated-app.ts'
import { respondJson } from '../fake-upstream.ts'

const agentDir = mkdtempSync(join(tmpdir(), 'svc-caller-'))
writeFiles(agentDir, CALLER_AGENT)
afterAll(() => rmSync(agentDir, { recursive: true, force: true }))

interface Said {
  status: number
  body: Record<string, unknown>
}

eachStore((store) => {
  const shared = sharedGatedApp(store, {
    env: { SVC_AGENT_COMMAND: 'node agent.mjs', SVC_AGENT_DIR: agentDir, SVC_READ_MAX_PER_TASK: '8' },
  })
  afterEach(() => {
    shared().outside.respond = (_seen, response) => respondJson(response, 200, { done: true })
    shared().outside.received.length = 0
  })

  /** What the sandbox plane answered to the calls of one run. */
  async function said(
    desk: GatedApp,
    calls: object[],
    more: object = {},
  ): Promise<{ answers: Said[]; taskId: string }> {
    const { id } = await desk.createTask({ wedge: 'gate', task_type: 'act', input: { calls, ...more } })
    const ended = await advanceUntilSettled(desk, desk.finished(id))
    expect(ended).toMatchObject({ status: 'succeeded', error: null })
    return { answers: ended.output as Said[], taskId: id }
  }
  const read = (path: string, more: object = {}) => ({ path: 'reads/crm', body: { path, ...more } })

  test('a read is a GET below the base of the connection, ungated, and the agent sees its answer', async () => {
    const desk = shared()
    const { answers, taskId } = await said(desk, [
      read('orders?open=1'),
      { method: 'GET', path: 'reads/crm?path=orders%2F7&connection=crm' },
    ])
    const whole = { ok: true, status: 200, content_type: 'application/json', body: { done: true } }
    expect(answers).toEqual([
      { status: 200, body: whole },
      { status: 200, body: whole },
    ])
    const seen = desk.outside.received.map(({ method, url, headers }) => [method, url, headers.authorization])
    expect(seen).toEqual([
      ['GET', '/crm/orders?open=1', 'Bearer secret-of-crm'],
      ['GET', '/crm/orders/7', 'Bearer secret-of-crm'],
    ])
    expect((await desk.call('GET', `/v1/approvals?task_id=${taskId}`)).body.data).toEqual([])
    const lines = (await desk.call('GET', '/v1/audit?limit=200')).body.data
    const own = lines.filter((line: { actor: { id: string } }) => line.actor.id === taskId)
    expect(own.map(({ action }: { action: string }) => action)).toEqual(['read.executed', 'read.executed'])
  })

  test('nothing but a relative path below the base is asked for', async () => {
    const desk = shared()
    const paths = [`${desk.outside.url}/crm/x`, '//evil.example/x', '../mail', 'a/../../mail', '%2e%2e/mail', '\\\\x']
    const { answers } = await said(
      desk,
      paths.map((path) => read(path)),
    )
    expect(answers.map(({ status }) => status)).toEqual(paths.map(() => 400))
    const other = await said(desk, [
      { path: 'reads/crm', body: {} },
      { path: 'reads/hook', body: { path: 'x' } },
      { path: 'reads/none', body: { path: 'x' } },
    ])
    expect(other.answers.map(({ status }) => status)).toEqual([400, 400, 400])
    expect(other.answers[1]?.body).toEqual({ error: "no executor for kind 'webhook'" })
    expect(desk.outside.received).toEqual([])
  })

  test('a read by any method but GET is refused and never asked for', async () => {
    const desk = shared()
    const { answers } = await said(desk, [
      { method: 'PUT', path: 'reads/crm', body: { path: 'x' } },
      { method: 'PATCH', path: 'reads/crm', body: { path: 'x' } },
      { method: 'DELETE', path: 'reads/crm?path=x' },
      read('x', { method: 'DELETE' }),
      { method: 'GET', path: 'reads/crm?path=x&method=DELETE' },
    ])
    expect(answers.map(({ status }) => status)).toEqual([400, 400, 400, 400, 400])
    for (const { body } of answers) expect(body.error).toMatch(/reads are GET only/)
    expect(desk.outside.received).toEqual([])
    const [same] = (await said(desk, [read('x', { method: 'GET' })])).answers
    expect(same?.status).toBe(200)
  })

  test('a name that a person could not read as it is becomes no question, no read and no action', async () => {
    const desk = shared()
    const names = [
      'a\nb',
      'a\tb',
      'a\u00a0b',
      'a\u2028b',
      'a\u202eb',
      'a\u2066b',
      'a\u200bb',
      'a\u007fb',
      'a'.repeat(201),
    ]
    const bad = names.flatMap((name) => [
      { path: `actions/${encodeURIComponent(name)}`, body: { connection: 'crm', payload: {} } },
      { path: `reads/${encodeURIComponent(name)}`, body: { connection: 'crm', path: 'x' } },
      { path: 'gate', gate: true, body: { tool: `send${name}` } },
    ])
    const { answers, taskId } = await said(desk, bad)
    expect(answers.map(({ status }) => status)).toEqual(bad.map(() => 400))
    expect((await desk.call('GET', `/v1/approvals?task_id=${taskId}`)).body.data).toEqual([])
    expect(desk.outside.received).toEqual([])
    const good = await said(desk, [
      { path: `reads/${encodeURIComponent('Über uns: 1')}`, body: { connection: 'crm', path: 'x' } },
      { path: 'gate', gate: true, body: { tool: 'look it up' } },
    ])
    expect(good.answers.map(({ status }) => status)).toEqual([200, 200])
  })

  test('too large, redirected, unreachable and silent are told apart', async () => {
    const desk = shared()
    desk.outside.respond = ({ url }, response) => {
      if (url.endsWith('/large')) response.writeHead(200).end('x'.repeat(256 * 1024 + 1))
      else if (url.endsWith('/full'))
        response.writeHead(200, { 'content-type': 'text/plain' }).end('x'.repeat(256 * 1024))
      else if (url.endsWith('/moved')) response.writeHead(302, { location: 'http://169.254.169.254/' }).end()
      else if (url.endsWith('/cut')) response.destroy()
      else if (url.endsWith('/missing')) respondJson(response, 404, { no: 1 })
    }
    const { answers, taskId } = await said(
      desk,
      ['large', 'full', 'moved', 'cut', 'missing', 'silent'].map((path) => read(path)),
    )
    expect(answers.map(({ status }) => status)).toEqual([400, 200, 400, 502, 200, 504])
    expect(answers[4]?.body).toMatchObject({ ok: false, status: 404, body: { no: 1 } })
    const lines = (await desk.call('GET', '/v1/audit?limit=200')).body.data
    const own = lines.filter((line: { actor: { id: string } }) => line.actor.id === taskId)
    expect(own.map(({ data }: { data: { status: number | null } }) => data.status).toReversed()).toEqual([
      null,
      200,
      null,
      null,
      404,
      null,
    ])
  })

  test('one read more than the task may is 429, also when all come at once', async () => {
    const desk = shared()
    const nine = Array.from({ length: 9 }, (_, n) => read(`orders/${n}`))
    const { answers } = await said(desk, nine)
    expect(answers.map(({ status }) => status)).toEqual([...nine.slice(1).map(() => 200), 429])
    const twelve = Array.from({ length: 12 }, (_, n) => read(`orders/${n}`))
    const atOnce = await said(desk, twelve, { together: true })
    expect(atOnce.answers.filter(({ status }) => status === 200)).toHaveLength(8)
    expect(atOnce.answers.filter(({ status }) => status === 429)).toHaveLength(4)
    expect((await said(desk, [read('orders')])).answers[0]?.status).toBe(200)
  })

  test('an action that no kind can carry out is refused before a person is asked', async () => {
    const desk = shared()
    const tracker = { kind: 'broker', name: 'tracker', config: { toolkit: 'tracker' } }
    expect((await desk.call('POST', '/v1/connections', tracker)).status).toBe(201)
    const { answers, taskId } = await said(desk, [
      { path: 'actions/TRACKER_CREATE', body: { payload: {} } },
      { path: 'actions/none', body: { payload: {} } },
      { path: 'actions/send_note', body: { connection: 'none', payload: {} } },
    ])
    expect(answers.map(({ status }) => status)).toEqual([400, 400, 404])
    expect(answers[0]?.body).toEqual({ error: "no executor for kind 'broker'" })
    expect((await desk.call('GET', `/v1/approvals?task_id=${taskId}`)).body.data).toEqual([])
  })

  test('what the upstream echoes of the secret is masked', async () => {
    const desk = shared()
    desk.outside.respond = ({ headers }, response) => respondJson(response, 200, { you: headers.authorization })
    const { answers } = await said(desk, [read('echo')])
    expect(answers[0]?.body.body).toEqual({ you: 'Bearer [secret]' })
  })

  test('tokens are good for their own routes and their own run only', async () => {
    const desk = shared()
    const { answers } = await said(desk, [
      { ...read('x'), gate: true },
      { path: 'gate', body: { tool: 'look_up' } },
      { path: 'gate', gate: true, body: { tool: 'look_up' } },
      { ...read('x'), token: desk.key },
      { ...read('x'), token: 'svc_tsk_nobody' },
    ])
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 200, 401, 401])
    expect(answers[2]?.body).toEqual({ decision: 'allowed' })
    expect(desk.outside.received).toEqual([])
  })
})

/** The bundled agent asks the same plane by lines. */
test('the bundled agent is refused a read by another method too', async () => {
  const look = { connection: 'crm', capability: 'crm', path: 'x', method: 'DELETE' }
  const files = gatedWedgeFiles('gate')
  const desk = await openGatedApp('sqlite', {
    ...files,
    'gate/rehearsals/act.json': [{ call: { tool: 'read', input: look } }, { output: '{{last}}' }],
  })
  onTestFinished(async () => {
    await desk.stop()
    await desk.outside.close()
  })
  const { id } = await desk.createTask({ wedge: 'gate', task_type: 'act', input: {} })
  const events = await desk.events(id)
  const [result] = events.filter(({ event }) => event === 'tool.result')
  expect(JSON.stringify(result?.data)).toMatch(/reads are GET only/)
  expect(desk.outside.received).toEqual([])
})
