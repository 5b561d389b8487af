import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import type { Json } from '../../../src/platform/base/json.ts'
import type { Brief } from '../../../src/platform/contract/agent-protocol.ts'
import { eventData, runOneBrief } from './in-process-cell.ts'
import {
  testBrief,
  type FakePlane,
  scriptedModel,
  type FakePlaneReply,
  type SeenPlaneRequest,
  startFakePlane,
} from './fake-plane.ts'

let plane: FakePlane | undefined
afterEach(async () => {
  plane?.close()
  plane = undefined
})

type Call = { name: string; input: Json }

/** One turn with these calls, then finish. */
async function use(
  calls: Call[],
  other: (seen: SeenPlaneRequest) => FakePlaneReply = () => ({ json: { ok: true } }),
  more: Partial<Brief> = {},
) {
  const done = { calls: [{ name: 'finish', input: { output: 'done' } }] }
  plane = startFakePlane(scriptedModel([...calls.map((call) => ({ calls: [call] })), done], other))
  const tools = [...new Set(calls.map(({ name }) => name))]
  const lines = await runOneBrief(plane, testBrief({ tools, steps: 20, ...more }))
  const seen = plane.seen.filter((one) => !one.path.includes('/llm/'))
  return { lines, last: lines.at(-1), seen, asked: plane.seen.filter((one) => one.path.includes('/llm/')) }
}

test.each<[string, Json, string, string, Json]>([
  [
    'act',
    { connection: 'mail', capability: 'gmail:SEND', payload: { to: 'x' } },
    'POST',
    'actions/gmail%3ASEND',
    { connection: 'mail', payload: { to: 'x' } },
  ],
  ['read', { capability: 'crm', path: 'orders/7' }, 'POST', 'reads/crm', { path: 'orders/7' }],
  // The method is passed on so that the service refuses it: a change must not look like a successful read.
  ['read', { capability: 'crm', path: 'x', method: 'PUT' }, 'POST', 'reads/crm', { path: 'x', method: 'PUT' }],
  [
    'read',
    { capability: 'LIST', arguments: { n: 1 }, connection: 'c' },
    'POST',
    'reads/LIST',
    { connection: 'c', arguments: { n: 1 } },
  ],
  ['workflow', { name: 'total', args: { a: 1 } }, 'POST', 'workflows/total', { args: { a: 1 } }],
  ['workflow', { name: 'today' }, 'POST', 'workflows/today', { args: {} }],
  ['records_get', { collection: 'orders', key: 'a/b' }, 'GET', 'records/orders/a%2Fb', {}],
  ['records_put', { collection: 'orders', key: 'k', value: [1] }, 'POST', 'records/orders/k', { value: [1] }],
  [
    'records_list',
    { collection: 'orders', where: { a: 1 }, limit: 2 },
    'GET',
    'records/orders?where=%7B%22a%22%3A1%7D&limit=2',
    {},
  ],
  ['case_get', {}, 'GET', 'case', {}],
  ['skill_read', { skill: 'a/b' }, 'GET', 'skills/a%2Fb', {}],
  ['skill_read', { skill: 'a', path: 'x y.md', offset: 5 }, 'GET', 'skills/a?path=x%20y.md&offset=5', {}],
  ['case_update', { stage: 'won', other: 1 }, 'PUT', 'case', { stage: 'won' }],
  [
    'report_gap',
    { question: 'how long?', why: 'refund' },
    'POST',
    'knowledge/gap',
    { question: 'how long?', why: 'refund' },
  ],
])('the tool %s with %j calls its route of the sandbox plane', async (name, input, method, route, body) => {
  const { seen, last } = await use([{ name, input }])
  expect(seen).toMatchObject([
    { method, path: `/v1/internal/${route}`, body, headers: { authorization: 'Bearer svc_tsk_1' } },
  ])
  expect(Object.keys(seen[0]?.body ?? {})).toEqual(Object.keys(body as object))
  expect(last?.output).toBe('done')
})

test('the events of an action contain neither its payload nor its result', async () => {
  const input = { connection: 'mail', capability: 'mail', payload: { secret: 'for the customer only' } }
  const reply = { json: { ok: true, status: 200, result: { echo: 'for the customer only' }, approval_id: 'apr_1' } }
  const { lines, asked } = await use([{ name: 'act', input }], () => reply)
  expect(eventData(lines, 'tool.called')).toEqual([
    { call_id: 'toolu_1', tool: 'act', input: { capability: 'mail', connection: 'mail' } },
  ])
  expect(eventData(lines, 'tool.result')).toEqual([
    { call_id: 'toolu_1', tool: 'act', ok: true, output: { status: 200 } },
  ])
  const events = lines.filter(({ turn }) => turn === undefined)
  expect(JSON.stringify(events)).not.toContain('for the customer only')
  expect(JSON.stringify(asked[1]?.body)).toContain('echo')
})

test('a rejected or expired action ends the run', async () => {
  const { last, asked } = await use([{ name: 'act', input: { capability: 'mail', payload: {} } }], () => ({
    status: 403,
    json: { error: 'approval rejected' },
  }))
  expect(last?.error).toBe('the action was refused: approval rejected')
  expect(asked).toHaveLength(1)
})

test('the model gets the error of a failed tool and the run continues', async () => {
  const answers: FakePlaneReply[] = [
    { status: 404, json: { error: 'no such record' } },
    { json: { ok: false, status: 503, body: 'later', error: 'upstream answered 503: later' } },
  ]
  const calls = [
    { name: 'records_get', input: { collection: 'a', key: 'b' } },
    { name: 'read', input: { capability: 'crm', path: 'x' } },
    { name: 'read', input: { path: 'x' } },
  ]
  const { lines, last, seen } = await use(calls, () => answers.shift() ?? { status: 500 })
  expect(eventData(lines, 'tool.result')).toMatchObject([
    { ok: false, error: 'no such record' },
    { ok: false, error: 'upstream answered 503: later' },
    { ok: false, error: '$.capability is required' },
  ])
  expect(seen).toHaveLength(2)
  expect(last?.output).toBe('done')
})

test('a tool call with an invalid token ends the run', async () => {
  const { last } = await use([{ name: 'case_get', input: {} }], () => ({ status: 401, json: { error: 'no' } }))
  expect(last?.error).toBe('the run is over: its token is no longer valid')
})

test('long strings in events are truncated and marked', async () => {
  const { lines } = await use(
    [{ name: 'records_put', input: { collection: 'c', key: 'k', value: `${'x'.repeat(4095)}🎉` } }],
    () => ({
      json: Array.from({ length: 3000 }, (_, n) => `row ${n}`),
    }),
  )
  const [called] = eventData(lines, 'tool.called') as [{ input: { value: string }; truncated: boolean }]
  const [result] = eventData(lines, 'tool.result') as [{ output: string; truncated: boolean }]
  expect([called.input.value, called.truncated]).toEqual(['x'.repeat(4095), true])
  expect([result.output.length, result.truncated]).toEqual([4096, true])
})

describe('tool gate', () => {
  const call = { name: 'workflow', input: { name: 'Send_Invoice', args: { to: 'x' } } }

  test('a workflow whose name matches a pattern passes the gate first, with the gate token', async () => {
    const { seen, lines } = await use([call], () => ({ json: { decision: 'approved' } }))
    expect(seen.map(({ path, body, headers }) => [path, body, headers.authorization])).toEqual([
      ['/v1/internal/gate', { tool: 'Send_Invoice', input: { to: 'x' } }, 'Bearer svc_gat_1'],
      ['/v1/internal/workflows/Send_Invoice', { args: { to: 'x' } }, 'Bearer svc_tsk_1'],
    ])
    expect(eventData(lines, 'tool.called')).toMatchObject([{ tool: 'workflow', input: { name: 'Send_Invoice' } }])
    expect(JSON.stringify(eventData(lines, 'tool.called'))).not.toContain('args')
  })

  test('the gate is not called for an invalid tool call', async () => {
    const calls = [{ name: 'records_put', input: { collection: 'c' } }]
    const { seen, lines } = await use(calls, undefined, { gate_patterns: ['records'] })
    expect(seen).toEqual([])
    expect(eventData(lines, 'tool.result')).toMatchObject([{ ok: false, error: expect.stringContaining('key') }])
  })

  test('the gate is called separately for a tool that runs inside the sandbox', async () => {
    const calls = [{ name: 'write_file', input: { path: 'out/a.txt', content: 'x' } }]
    const refused = await use(calls, () => ({ status: 403, json: { error: 'rejected' } }), { gate_patterns: ['write'] })
    expect(refused.last?.error).toBe("the gate refused 'write_file': rejected")
    expect(refused.lines.some((line) => 'artifact' in line)).toBe(false)
    const passed = await use(calls, () => ({ json: { decision: 'approved' } }), { gate_patterns: ['write'] })
    expect(passed.seen.map(({ path }) => path)).toEqual(['/v1/internal/gate'])
    expect(passed.lines.some((line) => 'artifact' in line)).toBe(true)
  })

  test('a refusal of the gate ends the run', async () => {
    const { seen, last } = await use([call], () => ({ status: 403, json: { error: 'approval expired' } }))
    expect(last?.error).toBe("the gate refused 'Send_Invoice': approval expired")
    expect(seen).toHaveLength(1)
  })

  test('a tool does not run if the gate does not answer', async () => {
    const { seen, last, lines } = await use([call], () => ({ status: 503, json: { error: 'draining' } }))
    expect(eventData(lines, 'tool.result')).toMatchObject([{ ok: false, error: 'the gate did not answer: draining' }])
    expect([seen.length, last?.output]).toEqual([1, 'done'])
  })

  test('the gate is called for every tool whose name contains a pattern, except act', async () => {
    const calls = [
      { name: 'records_put', input: { collection: 'c', key: 'k', value: 1 } },
      { name: 'act', input: { capability: 'send', payload: {} } },
    ]
    const { seen } = await use(calls, undefined, { gate_patterns: ['CORDS_P', 'act', ''] })
    expect(seen.map(({ path }) => path)).toEqual([
      '/v1/internal/gate',
      '/v1/internal/records/c/k',
      '/v1/internal/actions/send',
    ])
  })

  test('the gate is called for the shape workflow', async () => {
    const { last } = await use([], () => ({ status: 403, json: { error: 'rejected' } }), {
      shape: 'workflow',
      gate_patterns: ['triage'],
    })
    expect(last?.error).toBe("the gate refused 'triage': rejected")
  })
})

describe('files and commands', () => {
  test('files below out/ become artifacts before the output, and the folder is removed', async () => {
    const calls = [
      { name: 'write_file', input: { path: 'notes.txt', content: 'private' } },
      { name: 'write_file', input: { path: 'out/sub/report.md', content: '# Grüße' } },
      { name: 'list_files', input: {} },
      { name: 'read_file', input: { path: 'notes.txt' } },
    ]
    const { lines } = await use(calls)
    expect(eventData(lines, 'tool.result')).toMatchObject([
      { ok: true },
      { ok: true, output: { bytes: 9 } },
      { output: { files: ['notes.txt', 'out/sub/report.md'] } },
      { output: { content: 'private', truncated: false } },
    ])
    expect(lines.slice(-2)).toEqual([
      {
        run: 'r1',
        artifact: {
          name: 'sub/report.md',
          content_type: 'text/markdown; charset=utf-8',
          content_base64: Buffer.from('# Grüße').toString('base64'),
        },
      },
      { run: 'r1', output: 'done' },
    ])
    expect(readdirSync(path.join(plane?.folder ?? '', 'runs'))).toEqual([])
  })

  test.each(['../r2/x', '/etc/passwd', 'out/../../x', '..'])('the path %j is refused', async (name) => {
    const { lines } = await use([
      { name: 'write_file', input: { path: name, content: 'x' } },
      { name: 'read_file', input: { path: name } },
    ])
    const refused = { ok: false, error: "field 'path' must stay inside the folder of the task" }
    expect(eventData(lines, 'tool.result')).toMatchObject([refused, refused])
    expect(existsSync(path.join(plane?.folder ?? '', 'x'))).toBe(false)
  })

  test('a command runs in the folder of the run with a minimal environment and reports its exit', async () => {
    const calls = [
      { name: 'run_command', input: { command: 'echo hi > out/hi.txt; env | cut -d= -f1 | sort | tr "\\n" " "; pwd' } },
      { name: 'run_command', input: { command: 'echo no >&2; exit 3' } },
      { name: 'run_command', input: { command: 'sleep 60', timeout_s: 1 } },
      { name: 'run_command', input: { command: 'head -c 300000 /dev/zero | tr "\\0" a' } },
    ]
    const { lines, asked } = await use(calls)
    const results = eventData(lines, 'tool.result')
    expect(results).toMatchObject([
      { ok: true, output: { exit_code: 0 } },
      { ok: false, error: 'exited with code 3' },
      { ok: false, error: 'killed by SIGKILL' },
      { ok: true, truncated: true },
    ])
    const { stdout } = (results[0] as { output: { stdout: string } }).output
    expect(stdout).toContain('/runs/r1')
    expect(stdout.replace('PWD ', '').replace('SHLVL ', '').replace('_ ', '')).toMatch(
      /^HOME LANG (OLDPWD )?PATH TZ \//,
    )
    expect(JSON.stringify(asked[2]?.body)).toContain('no\\\\n')
    expect(lines.at(-2)?.artifact).toMatchObject({ name: 'hi.txt', content_type: 'text/plain; charset=utf-8' })
  })

  test('at most 50 files of at most 10 MiB are delivered, and the others are reported', async () => {
    const command =
      'cd out; for i in $(seq 10 61); do echo $i > f$i.csv; done; head -c 10485761 /dev/zero > a.bin; ln -s /etc/hostname b'
    const { lines } = await use([{ name: 'run_command', input: { command } }])
    expect(lines.filter((line) => 'artifact' in line)).toHaveLength(49)
    expect(eventData(lines, 'progress')).toEqual([
      { text: 'Left out a.bin: larger than 10 MiB' },
      { text: 'Left out 3 files: only 50 can be delivered' },
    ])
  })
})
