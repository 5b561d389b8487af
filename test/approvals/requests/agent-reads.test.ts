import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, onTestFinished, test } from 'vitest'
import { eachStore, writeFiles } from '../../app.ts'
import { respondJson } from '../../fake-upstream.ts'
import {
  advanceUntilSettled,
  CALLER_AGENT,
  type GatedApp,
  gatedWedgeFiles,
  openGatedApp,
  sharedGatedApp,
} from '../decisions/gated-app.ts'

const agentDir = mkdtempSync(join(tmpdir(), 'svc-caller-'))
writeFiles(agentDir, CALLER_AGENT)
afterAll(() => rmSync(agentDir, { recursive: true, force: true }))

interface PlaneResponse {
  status: number
  body: Record<string, unknown>
}

eachStore((store) => {
  const shared = sharedGatedApp(store, {
    env: { SVC_AGENT_COMMAND: 'node agent.mjs', SVC_AGENT_DIR: agentDir, SVC_READ_MAX_PER_TASK: '8' },
  })
  afterEach(() => {
    shared().outside.respond = (_request, response) => respondJson(response, 200, { done: true })
    shared().outside.received.length = 0
  })

  /** The responses of the sandbox plane to the calls of one run. */
  async function runCalls(
    app: GatedApp,
    calls: object[],
    more: object = {},
  ): Promise<{ responses: PlaneResponse[]; taskId: string }> {
    const { id } = await app.createTask({ wedge: 'gate', task_type: 'act', input: { calls, ...more } })
    const ended = await advanceUntilSettled(app, app.finished(id))
    expect(ended).toMatchObject({ status: 'succeeded', error: null })
    return { responses: ended.output as PlaneResponse[], taskId: id }
  }
  const read = (path: string, more: object = {}) => ({ path: 'reads/crm', body: { path, ...more } })

  test('a read is a GET below the base url of the connection, needs no approval and returns its response', async () => {
    const app = shared()
    const { responses, taskId } = await runCalls(app, [
      read('orders?open=1'),
      { method: 'GET', path: 'reads/crm?path=orders%2F7&connection=crm' },
    ])
    const body = { ok: true, status: 200, content_type: 'application/json', body: { done: true } }
    expect(responses).toEqual([
      { status: 200, body },
      { status: 200, body },
    ])
    const seen = app.outside.received.map(({ method, url, headers }) => [method, url, headers.authorization])
    expect(seen).toEqual([
      ['GET', '/crm/orders?open=1', 'Bearer secret-of-crm'],
      ['GET', '/crm/orders/7', 'Bearer secret-of-crm'],
    ])
    expect((await app.call('GET', `/v1/approvals?task_id=${taskId}`)).body.data).toEqual([])
    const lines = (await app.call('GET', '/v1/audit?limit=200')).body.data
    const own = lines.filter((line: { actor: { id: string } }) => line.actor.id === taskId)
    expect(own.map(({ action }: { action: string }) => action)).toEqual(['read.executed', 'read.executed'])
  })

  test('a read accepts only a relative path below the base url', async () => {
    const app = shared()
    const paths = [`${app.outside.url}/crm/x`, '//evil.example/x', '../../mail', 'a/../../mail', '%2e%2e/mail', '\\\\x']
    const { responses } = await runCalls(
      app,
      paths.map((path) => read(path)),
    )
    expect(responses.map(({ status }) => status)).toEqual(paths.map(() => 400))
    const other = await runCalls(app, [
      { path: 'reads/crm', body: {} },
      { path: 'reads/hook', body: { path: 'x' } },
      { path: 'reads/none', body: { path: 'x' } },
    ])
    expect(other.responses.map(({ status }) => status)).toEqual([400, 400, 400])
    expect(other.responses[1]?.body).toEqual({ error: "no executor for kind 'webhook'" })
    expect(app.outside.received).toEqual([])
  })

  test.each(['gopher://files.example/', 'file:///etc/', 'unix:/run/x.sock', 'crm.example/'])(
    'a read and a test of a connection with the url %s are refused with a sentence',
    async (url) => {
      const app = shared()
      const config = { base_url: url, api_url: url }
      const created = await app.call('POST', '/v1/connections', { kind: 'custom', name: 'tracker', config })
      onTestFinished(async () => void (await app.call('DELETE', `/v1/connections/${created.body.id}`)))
      const { responses } = await runCalls(app, [{ path: 'reads/tracker', body: { path: 'x' } }])
      const sentence = (key: string) => `connection 'tracker': config.${key} must be an http or https url`
      expect(responses).toEqual([{ status: 400, body: { error: sentence('base_url') } }])
      const tested = await app.call('POST', `/v1/connections/${created.body.id}/test`)
      expect(tested).toMatchObject({ status: 200, body: { ok: false, error: sentence('base_url') } })
    },
  )

  test('a read with another method than GET is refused and not sent', async () => {
    const app = shared()
    const { responses } = await runCalls(app, [
      { method: 'PUT', path: 'reads/crm', body: { path: 'x' } },
      { method: 'PATCH', path: 'reads/crm', body: { path: 'x' } },
      { method: 'DELETE', path: 'reads/crm?path=x' },
      read('x', { method: 'DELETE' }),
      { method: 'GET', path: 'reads/crm?path=x&method=DELETE' },
    ])
    expect(responses.map(({ status }) => status)).toEqual([400, 400, 400, 400, 400])
    for (const { body } of responses) expect(body.error).toMatch(/reads are GET only/)
    expect(app.outside.received).toEqual([])
    const [same] = (await runCalls(app, [read('x', { method: 'GET' })])).responses
    expect(same?.status).toBe(200)
  })

  test('a name with invisible characters is refused for approvals, reads and actions', async () => {
    const app = shared()
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
    const { responses, taskId } = await runCalls(app, bad)
    expect(responses.map(({ status }) => status)).toEqual(bad.map(() => 400))
    expect((await app.call('GET', `/v1/approvals?task_id=${taskId}`)).body.data).toEqual([])
    expect(app.outside.received).toEqual([])
    const good = await runCalls(app, [
      { path: `reads/${encodeURIComponent('Über uns: 1')}`, body: { connection: 'crm', path: 'x' } },
      { path: 'gate', gate: true, body: { tool: 'look it up' } },
    ])
    expect(good.responses.map(({ status }) => status)).toEqual([200, 200])
  })

  test('a read reports too large, redirected, unreachable and timed out responses by different errors', async () => {
    const app = shared()
    app.outside.respond = ({ url }, response) => {
      if (url.endsWith('/large')) response.writeHead(200).end('x'.repeat(256 * 1024 + 1))
      else if (url.endsWith('/full'))
        response.writeHead(200, { 'content-type': 'text/plain' }).end('x'.repeat(256 * 1024))
      else if (url.endsWith('/moved')) response.writeHead(302, { location: 'http://169.254.169.254/' }).end()
      else if (url.endsWith('/cut')) response.destroy()
      else if (url.endsWith('/missing')) respondJson(response, 404, { no: 1 })
    }
    const { responses, taskId } = await runCalls(
      app,
      ['large', 'full', 'moved', 'cut', 'missing', 'silent'].map((path) => read(path)),
    )
    expect(responses.map(({ status }) => status)).toEqual([400, 200, 400, 502, 200, 504])
    expect(responses[4]?.body).toMatchObject({ ok: false, status: 404, body: { no: 1 } })
    const lines = (await app.call('GET', '/v1/audit?limit=200')).body.data
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

  test('a task that exceeds its number of reads gets 429, even if all reads are concurrent', async () => {
    const app = shared()
    const nine = Array.from({ length: 9 }, (_, n) => read(`orders/${n}`))
    const { responses } = await runCalls(app, nine)
    expect(responses.map(({ status }) => status)).toEqual([...nine.slice(1).map(() => 200), 429])
    const twelve = Array.from({ length: 12 }, (_, n) => read(`orders/${n}`))
    const atOnce = await runCalls(app, twelve, { together: true })
    expect(atOnce.responses.filter(({ status }) => status === 200)).toHaveLength(8)
    expect(atOnce.responses.filter(({ status }) => status === 429)).toHaveLength(4)
    expect((await runCalls(app, [read('orders')])).responses[0]?.status).toBe(200)
  })

  test('an action that the connection cannot send is refused before an approval is requested', async () => {
    const app = shared()
    const tracker = { kind: 'broker', name: 'tracker', config: { toolkit: 'tracker' } }
    expect((await app.call('POST', '/v1/connections', tracker)).status).toBe(201)
    const { responses, taskId } = await runCalls(app, [
      { path: 'actions/TRACKER_CREATE', body: { payload: {} } },
      { path: 'actions/none', body: { payload: {} } },
      { path: 'actions/send_note', body: { connection: 'none', payload: {} } },
    ])
    expect(responses.map(({ status }) => status)).toEqual([400, 400, 404])
    expect(responses[0]?.body).toEqual({ error: "no executor for kind 'broker'" })
    expect((await app.call('GET', `/v1/approvals?task_id=${taskId}`)).body.data).toEqual([])
  })

  test('a secret that the upstream echoes is masked', async () => {
    const app = shared()
    app.outside.respond = ({ headers }, response) => respondJson(response, 200, { you: headers.authorization })
    const { responses } = await runCalls(app, [read('echo')])
    expect(responses[0]?.body.body).toEqual({ you: 'Bearer [secret]' })
  })

  test('a token is valid only for its own routes and its own run', async () => {
    const app = shared()
    const { responses } = await runCalls(app, [
      { ...read('x'), gate: true },
      { path: 'gate', body: { tool: 'look_up' } },
      { path: 'gate', gate: true, body: { tool: 'look_up' } },
      { ...read('x'), token: app.key },
      { ...read('x'), token: 'svc_tsk_nobody' },
    ])
    expect(responses.map(({ status }) => status)).toEqual([401, 401, 200, 401, 401])
    expect(responses[2]?.body).toEqual({ decision: 'allowed' })
    expect(app.outside.received).toEqual([])
  })
})

/** The bundled agent calls the same plane over its pipe. */
test('a read with another method is refused for the bundled agent too', async () => {
  const input = { connection: 'crm', capability: 'crm', path: 'x', method: 'DELETE' }
  const files = gatedWedgeFiles('gate')
  const app = await openGatedApp('sqlite', {
    ...files,
    'gate/rehearsals/act.json': [{ call: { tool: 'read', input } }, { output: '{{last}}' }],
  })
  onTestFinished(async () => {
    await app.stop()
    await app.outside.close()
  })
  const { id } = await app.createTask({ wedge: 'gate', task_type: 'act', input: {} })
  const events = await app.events(id)
  const [result] = events.filter(({ event }) => event === 'tool.result')
  expect(JSON.stringify(result?.data)).toMatch(/reads are GET only/)
  expect(app.outside.received).toEqual([])
})
