import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { dataLimitMb } from '../../../src/execution/sandbox/cgroup/cell-limits.ts'
import { ECHO_WEDGE, sharedApp, testApp } from '../../app.ts'
import { scriptedAgentFolder, loggedLines, runScript } from './scripted-agent.ts'

const app = sharedApp({
  store: 'sqlite',
  wedges: {
    ...ECHO_WEDGE,
    'echo/skills/manners.md': 'Be kind.',
    'echo/knowledge/facts.md': 'The sky is blue.',
  },
  env: { SVC_SANDBOX: 'bwrap', SVC_POOL: '2', SVC_TASK_RATE_PER_MIN: '10000', ...scriptedAgentFolder() },
})

describe('a custom agent in any language', () => {
  test('reads one brief and writes events, files and an output, which its log contains in order', async () => {
    const { task, events, types } = await runScript(
      app(),
      `const fs = require('node:fs')
       say({ event: 'step.started', data: { step: 1, label: 'Look' } })
       say({ event: 'tool.called', data: { call_id: 'c1', tool: 'look', input: { at: 'sky' }, secret: 'not in the table' } })
       say({ event: 'tool.result', data: { call_id: 'c1', tool: 'look', ok: true, output: 'blue' } })
       say({ event: 'token.delta', data: { text: 'It is ' } })
       say({ artifact: { name: 'note.txt', content_type: 'text/plain', content_base64: Buffer.from('hi').toString('base64') } })
       fs.mkdirSync(process.env.HOME + '/out/sub', { recursive: true })
       fs.writeFileSync(process.env.HOME + '/out/sub/table.csv', 'a,b')
       const { service, task, ...rest } = brief
       say({ output: { rest, task: Object.keys(task), cwd: process.cwd(), env: Object.keys(process.env).sort() } })`,
    )
    expect(types).toEqual([
      'task.created',
      'step.started',
      'tool.called',
      'tool.result',
      'token.delta',
      'output.validated',
      'artifact.created',
      'artifact.created',
      'artifact.created',
      'task.finished',
    ])
    expect(events[0]?.data.data).toMatchObject({ sandbox: 'bwrap', wedge: 'echo', task_type: 'say' })
    expect(events[2]?.data.data).toEqual({ call_id: 'c1', tool: 'look', input: { at: 'sky' } })
    expect(task).toMatchObject({ status: 'succeeded', error: null })
    expect(task.output).toMatchObject({
      cwd: '/custom',
      rest: {
        v: 1,
        skills: [{ name: 'manners', content: 'Be kind.' }],
        knowledge: [{ name: 'facts.md', content: 'The sky is blue.' }],
        shape: 'agent',
        steps: 20,
      },
      task: ['id', 'wedge', 'task_type', 'input', 'constraints'],
    })
    expect(task.output.env.filter((name: string) => !['PWD', 'OLDPWD', 'SHLVL', '_'].includes(name))).toEqual([
      'ANTHROPIC_API_KEY',
      'ANTHROPIC_BASE_URL',
      'HOME',
      'LANG',
      'OPENAI_API_KEY',
      'OPENAI_BASE_URL',
      'PATH',
      'SVC_BASE_URL',
      'SVC_MCP_URL',
      'TZ',
    ])
    expect(task.artifacts.map(({ name }: { name: string }) => name)).toEqual([
      'output.json',
      'note.txt',
      'sub/table.csv',
    ])
    const file = await app().call('GET', `/v1/artifacts/${task.artifacts[2].id}`)
    expect([file.body, file.headers.get('content-type')]).toEqual(['a,b', 'text/csv; charset=utf-8'])
  })

  test('has 1 GiB of memory and 1,024 open files for each process', async () => {
    const { task } = await runScript(
      app(),
      `const limits = require('node:fs').readFileSync('/proc/self/limits', 'utf8')
       const limitOf = (name) => Number(new RegExp('^' + name + ' +(\\\\d+)', 'm').exec(limits)[1])
       say({ output: [limitOf('Max data size') / 1024 ** 2, limitOf('Max open files')] })`,
    )
    expect(task.output).toEqual([dataLimitMb({ memory_mb: 1024 }), 1024])
  })

  test('can be a Python program', async () => {
    const python = `import json, sys
brief = json.loads(sys.stdin.readline())
print(json.dumps({"event": "progress", "data": {"text": "python reads " + brief["task"]["wedge"]}}))
print(json.dumps({"output": {"steps": brief["steps"]}}))`
    const { task, types } = await runScript(app(), '', { input: { python } })
    expect(task).toMatchObject({ status: 'succeeded', output: { steps: 20 } })
    expect(types).toContain('progress')
  })

  test('can be a shell script', async () => {
    const sh = `read brief; echo '{"event":"progress","data":{"text":"here"}}'; echo '{"output":{"from":"sh"}}'`
    const { task } = await runScript(app(), '', { input: { sh } })
    expect(task).toMatchObject({ status: 'succeeded', output: { from: 'sh' } })
  })
})

describe('a custom agent that fails', () => {
  test.each([
    ['reports an error', `say({ error: 'no data found' })`, 'no data found'],
    ['crashes', `require('node:fs').writeSync(2, 'boom\\n'); process.exit(7)`, '(exit code 7): boom'],
    ['is killed', `process.kill(process.pid, 'SIGKILL')`, 'SIGKILL'],
    ['exits without output', `return`, 'without an output'],
    ['reports an error that is not text', `say({ error: 5 })`, 'without an output'],
    [
      'kills its parent process',
      `process.kill(1, 'SIGKILL'); process.kill(process.ppid, 'SIGKILL'); process.exit(3)`,
      'without an output',
    ],
  ])('%s: its task fails as agent_failed', async (_, js, message) => {
    const { task, types } = await runScript(app(), js)
    expect(task).toMatchObject({ status: 'failed', output: null, error: { reason: 'agent_failed' } })
    expect(task.error.message).toContain(message)
    expect(types).toEqual(['task.created', 'task.finished'])
  })

  test('writes an output of more than 1 MiB: its task fails as output_invalid, and the message suggests a file', async () => {
    const { task, events, types } = await runScript(app(), `say({ output: 'x'.repeat(1024 * 1024 - 1) })`)
    const message = 'the output is larger than 1 MiB: deliver it as a file'
    expect(task).toMatchObject({ status: 'failed', output: null, error: { reason: 'output_invalid', message } })
    expect(types).toEqual(['task.created', 'output.validated', 'task.finished'])
    const errors = [{ path: '$', message: 'is larger than 1 MiB: deliver it as a file' }]
    expect(events[1]?.data.data).toEqual({ ok: false, errors })
    const { task: largest } = await runScript(app(), `say({ output: 'x'.repeat(1024 * 1024 - 2) })`)
    expect(largest).toMatchObject({ status: 'succeeded', artifacts: [{ name: 'output.json', size: 1024 * 1024 }] })
  })

  test('crashes: the events that it wrote before stay in the log', async () => {
    const { types } = await runScript(app(), `say({ event: 'progress', data: { text: 'so far' } }); process.exit(1)`)
    expect(types).toEqual(['task.created', 'progress', 'task.finished'])
  })
})

test('an agent can report at most fifty knowledge gaps in one task', async () => {
  const { task } = await runScript(
    app(),
    `const responses = []
     for (let n = 0; n < 52; n++) responses.push(await ask('POST', '/v1/internal/knowledge/gap', { question: 'What is ' + n + '?' }))
     say({ output: { statuses: responses.map(({ status }) => status), last: responses[51].body } })`,
  )
  expect(task.output.statuses).toEqual([...Array(50).fill(200), 429, 429])
  expect(task.output.last).toEqual({ error: 'more than 50 gaps in one task' })
})

describe('a dishonest custom agent', () => {
  test('cannot forge approvals, costs or the end of its task', async () => {
    const { task, types } = await runScript(
      app(),
      `for (const event of ['approval.requested', 'approval.resolved', 'cost.charged', 'output.validated', 'artifact.created',
         'feedback.recorded', 'task.created', 'task.finished', 'made.up', 7, null]) say({ event, data: { status: 'succeeded' } })
       say({ event: 'progress' })
       say({ event: 'progress', data: 'no object' })
       say({ nothing: true })
       say({ output: 'done' })`,
    )
    expect(types).toEqual(['task.created', 'output.validated', 'artifact.created', 'task.finished'])
    expect(task).toMatchObject({ status: 'succeeded', cost_usd: 0 })
    const refused = loggedLines(app(), 'agent line refused').filter((line) => line.task === task.id)
    expect(refused).toHaveLength(14)
  })

  test('cannot send a request as a line of its output: the line is refused and not executed', async () => {
    const { task } = await runScript(
      app(),
      `const { task_token: token } = brief.service
       say({ ask: 1, token, method: 'POST', path: '/v1/internal/records/notes/by-line', body: { value: 1 } })
       const { status } = await ask('GET', '/v1/internal/records/notes/by-line', undefined, token)
       say({ output: status })`,
    )
    expect(task.output).toBe(404)
    const refused = loggedLines(app(), 'agent line refused').filter((line) => line.task === task.id)
    expect(refused).toMatchObject([{ why: 'a custom agent must send requests over its socket' }])
  })

  test('cannot write events of another run, a second output, or events after its output', async () => {
    const { task, types } = await runScript(
      app(),
      `say({ run: 'task_another', event: 'progress', data: { text: 'of this run' } })
       say('not json'); say('[1,2]'); say('"text"'); say('{"broken":')
       say({ output: 'first' })
       say({ output: 'second' })
       say({ event: 'progress', data: { text: 'too late' } })
       say({ error: 'too late' })`,
    )
    expect(task).toMatchObject({ status: 'succeeded', output: 'first' })
    expect(types).toEqual(['task.created', 'progress', 'output.validated', 'artifact.created', 'task.finished'])
  })

  test('cannot write to the pipe of its parent process', async () => {
    const { task, types } = await runScript(
      app(),
      `const out = require('node:fs').openSync('/proc/' + process.ppid + '/fd/1', 'w')
       const writeDirectly = (line) => require('node:fs').writeSync(out, JSON.stringify(line) + '\\n')
       writeDirectly({ ready: true })
       writeDirectly({ run: 'task_another', output: 'theirs' })
       writeDirectly({ run: brief.task.id, event: 'task.finished', data: { status: 'succeeded' } })
       writeDirectly({ run: brief.task.id, event: 'cost.charged', data: { cost_usd: -5 } })
       say({ error: 'gave up' })`,
    )
    expect(types).toEqual(['task.created', 'task.finished'])
    const message = expect.stringContaining("EACCES: permission denied, open '/proc/1/fd/1'")
    expect(task).toMatchObject({ status: 'failed', cost_usd: 0, error: { message } })
  })

  test('has its long strings truncated and its invalid fields removed', async () => {
    const { events } = await runScript(
      app(),
      `say({ event: 'tool.called', data: { call_id: 1, tool: 'x', input: { long: 'a'.repeat(5000) } } })
       say({ event: 'progress', data: { text: 'nul \\u0000 and half \\ud800 pair' } })
       say({ event: 'tool.result', data: { tool: 'x', ok: 'yes', output: 1, error: 'no' } })
       say({ output: null })`,
    )
    const [called, progress, result] = events.slice(1).map(({ data }) => data.data)
    expect(called).toMatchObject({ call_id: '', truncated: true })
    expect(called.input.long).toHaveLength(4096)
    expect(progress.text).toContain('nul')
    expect(result).toEqual({ call_id: '', tool: 'x', ok: false, error: 'no' })
  })

  test('cannot break the service with deeply nested JSON', async () => {
    const { task } = await runScript(
      app(),
      `const deep = (n) => '['.repeat(n) + ']'.repeat(n)
       for (const n of [70, 3000, 6000]) say('{"event":"tool.called","data":{"call_id":"c","tool":"t","input":' + deep(n) + '}}')
       say('{"output":' + deep(3000) + '}')`,
    )
    expect(task).toMatchObject({ status: 'failed', error: { reason: 'agent_failed' } })
    expect((await app().call('GET', '/v1/tasks')).status).toBe(200)
  })
})

test('a custom agent whose folder was deleted after the start fails its task as sandbox_failed', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'svc-agent-'))
  const env = { SVC_SANDBOX: 'bwrap', SVC_POOL: '0', SVC_AGENT_COMMAND: 'true', SVC_AGENT_DIR: dir }
  const app = await testApp({ store: 'sqlite', env })
  rmSync(dir, { recursive: true })
  const { task, types } = await runScript(app, '')
  expect(task).toMatchObject({ status: 'failed', error: { reason: 'sandbox_failed' } })
  expect(types).toEqual(['task.created', 'task.finished'])
})
