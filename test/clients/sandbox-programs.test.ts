import { execFileSync } from 'node:child_process'
import { copyFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { AgentWorkClient, type Event } from '../../clients/typescript/src/client.ts'
import { type Brief, Sandbox } from '../../clients/typescript/src/sandbox.ts'
import { PYTHON_CLIENT_FILE } from '../../scripts/api-types.ts'
import { fetchNode, NODE_24 } from '../../scripts/fetch-node.mjs'
import type { Brief as ServiceBrief } from '../../src/platform/contract/agent-protocol.ts'
import { FOUNDER_KEY, anyStore, writeFiles } from '../app.ts'
import { gatedWedgeFiles, openGatedApp } from '../approvals/decisions/gated-app.ts'
import { openFakeUpstream, respondJson } from '../fake-upstream.ts'
import { createClientProject } from './packed-client.ts'
import { PYTHON, runPython } from './run-python.ts'

const TYPESCRIPT_PROGRAM = `
import { NotFoundError, openSandbox } from 'agent-work-service-client/sandbox'
const sandbox = await openSandbox()
const { records } = sandbox
sandbox.progress('I begin.')
const missing = await records.get('notes', 'none').catch((error) => error instanceof NotFoundError)
for (const key of ['a/1', 'b']) await records.put('notes', key, { key })
await records.delete('notes', 'b')
const keys = []
for await (const { key } of records.list('notes')) keys.push(key)
const found = await sandbox.workflow('look_up', { n: 1 })
const booked = await sandbox.workflow('book_room', { n: 2 })
const { body } = await sandbox.read('crm', { path: 'orders/1' })
const { ok, payload, edited } = await sandbox.act('crm:send_note', { text: 'hi' }, { connection: 'crm' })
const { answer } = await sandbox.ask('Which size?', { options: ['S', 'L'] })
sandbox.artifact('note.txt', 'hi', 'text/plain')
sandbox.finish({ missing, keys, found, booked, body, ok, payload, edited, answer })
`

const PYTHON_PROGRAM = `
from agent_work_service_client import NotFoundError, Sandbox
sandbox = Sandbox()
records = sandbox.records
sandbox.progress("I begin.")
try:
    records.get("notes", "none")
    missing = False
except NotFoundError:
    missing = True
for key in ["a/1", "b"]:
    records.put("notes", key, {"key": key})
records.delete("notes", "b")
keys = [record["key"] for record in records.list("notes")]
found = sandbox.workflow("look_up", {"n": 1})
booked = sandbox.workflow("book_room", {"n": 2})
body = sandbox.read("crm", "orders/1")["body"]
sent = sandbox.act("crm:send_note", {"text": "hi"}, connection="crm")
answer = sandbox.ask("Which size?", options=["S", "L"])["answer"]
sandbox.artifact("note.txt", "hi", "text/plain")
sandbox.finish({"missing": missing, "keys": keys, "found": found, "booked": booked, "body": body, "ok": sent["ok"],
    "payload": sent["payload"], "edited": sent["edited"], "answer": answer})
`

const TYPESCRIPT_ECHO = `
import { openSandbox } from 'agent-work-service-client/sandbox'
const sandbox = await openSandbox()
sandbox.finish(sandbox.brief.task.input)
`

const PYTHON_ECHO = `
from agent_work_service_client import Sandbox
sandbox = Sandbox()
sandbox.finish(sandbox.brief["task"]["input"])
`

const PROGRAMS = {
  TypeScript: 'node program.mjs',
  Python: `${PYTHON} -B program.py`,
}

const { folder: agentDir } = createClientProject()
writeFiles(agentDir, { 'program.mjs': TYPESCRIPT_PROGRAM, 'program.py': PYTHON_PROGRAM })
copyFileSync(PYTHON_CLIENT_FILE, join(agentDir, 'agent_work_service_client.py'))
afterAll(() => rmSync(agentDir, { recursive: true, force: true }))

anyStore((store) => {
  test.each(Object.entries(PROGRAMS))('a %s program uses everything of the sandbox plane', async (_, command) => {
    const agent = { SVC_SANDBOX: 'bwrap', SVC_AGENT_DIR: agentDir, SVC_AGENT_COMMAND: command }
    const app = await openGatedApp(store, gatedWedgeFiles('gate'), agent)
    app.outside.respond = ({ method }, response) => respondJson(response, 200, { method })
    const client = new AgentWorkClient({ url: app.url, key: FOUNDER_KEY })
    const events: Event[] = []
    const decide = (event: Event) => {
      events.push(event)
      if (event.type !== 'approval.requested') return
      const edited = event.data.to ? { answer: 'L' } : { text: 'hello' }
      const body = event.data.action === 'book_room' ? {} : { edited }
      void client.call('approveApproval', { id: event.data.approval_id, body })
    }
    const task = await client.run({ wedge: 'gate', task_type: 'act' }, { onEvent: decide })
    expect(task.output).toEqual({
      missing: true,
      keys: ['a/1'],
      found: { look_up: { n: 1 } },
      booked: { book_room: { n: 2 } },
      body: { method: 'GET' },
      ok: true,
      payload: { text: 'hello' },
      edited: true,
      answer: 'L',
    })
    expect(task.artifacts.map(({ name }) => name)).toContain('note.txt')
    expect(events.filter(({ type }) => type === 'tool.result')).toHaveLength(2)
    expect(events).toContainEqual(expect.objectContaining({ type: 'progress', data: { text: 'I begin.' } }))
    await app.stop()
    await app.outside.close()
  })
})

describe('a brief with the line separators of Unicode', () => {
  const input = 'a\u2028b\u2029c'
  const line = `${JSON.stringify({ task: { input }, service: { socket: null, base_url: 'http://a' } })}\n`
  const echo = (program: string, args: string[]) =>
    JSON.parse(execFileSync(program, args, { cwd: agentDir, input: line, encoding: 'utf8' })).output

  test('is read on this machine', () => {
    writeFiles(agentDir, { 'echo.mjs': TYPESCRIPT_ECHO, 'echo.py': PYTHON_ECHO })
    expect(echo(process.execPath, ['echo.mjs'])).toBe(input)
    expect(echo(PYTHON, ['-B', 'echo.py'])).toBe(input)
  })

  test('is read on Node 24, whose readline splits at them', async ({ skip }) => {
    const program = (await fetchNode(NODE_24)) ?? skip('the npm registry did not send Node 24 for this platform')
    writeFiles(agentDir, { 'echo.mjs': TYPESCRIPT_ECHO })
    expect(echo(program, ['echo.mjs'])).toBe(input)
  })
})

describe('a program with SVC_BASE_URL', () => {
  const brief = {
    gate_patterns: [],
    service: { socket: '/nowhere.sock', base_url: 'http://service', task_token: 'task', gate_token: 'gate' },
  }

  test('passes the gate for the workflows that a pattern names, and an empty pattern names none', async () => {
    const upstream = await openFakeUpstream()
    upstream.respond = (_, response) => respondJson(response, 200, { decision: 'allowed', result: 1 })
    vi.stubEnv('SVC_BASE_URL', upstream.url)
    const output = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
    onTestFinished(() => void vi.unstubAllEnvs())
    onTestFinished(() => output.mockRestore())
    const given = { ...brief, gate_patterns: ['', 'BOOK'] }
    for (const name of ['look_up', 'book_room']) await new Sandbox(given as unknown as Brief).workflow(name, {})
    const code = 'for name in ["look_up", "book_room"]: Sandbox(given).workflow(name, {})'
    await runPython(code, given, { SVC_BASE_URL: upstream.url })
    const expected = ['workflows/look_up', 'gate', 'workflows/book_room'].map((path) => `/v1/internal/${path}`)
    expect(upstream.received.map(({ url }) => url)).toEqual([...expected, ...expected])
    await upstream.close()
  })

  test('uses it in place of the socket', async () => {
    const upstream = await openFakeUpstream()
    upstream.respond = (_, response) => respondJson(response, 200, { decision: 'allowed', value: { a: 1 } })
    vi.stubEnv('SVC_BASE_URL', upstream.url)
    const sandbox = new Sandbox({ ...brief } as unknown as Brief)
    expect(await sandbox.records.get('notes', 'a')).toMatchObject({ value: { a: 1 } })
    vi.unstubAllEnvs()
    const code = 'show(Sandbox(given).gate("send", {}))'
    expect((await runPython(code, brief, { SVC_BASE_URL: upstream.url })).lines).toEqual(['allowed'])
    expect(upstream.received.map(({ url, headers }) => [url, headers.authorization])).toEqual([
      ['/v1/internal/records/notes/a', 'Bearer task'],
      ['/v1/internal/gate', 'Bearer gate'],
    ])
    await upstream.close()
  })
})

test("the client's type of the brief fits the brief of the service", () => {
  const toClientBrief = (given: ServiceBrief): Brief => given
  expect(toClientBrief).toBeTypeOf('function')
})
