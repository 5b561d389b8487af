import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { type TestApp, writeFiles } from '../../app.ts'
import type { StreamedEvent } from '../../http.ts'

/**
 * Creates a folder with a custom agent that runs the task's input: `{js}` is the body of an async function with the
 * parameters `brief, say, ask, require`; `{python}` and `{sh}` are whole programs. Removed after the tests of the file.
 */
export function scriptedAgentFolder(): { SVC_AGENT_COMMAND: string; SVC_AGENT_DIR: string } {
  const dir = mkdtempSync(join(tmpdir(), 'svc-agents-'))
  chmodSync(dir, 0o755)
  writeFiles(dir, { 'start.cjs': AGENT_PROGRAM })
  afterAll(() => rmSync(dir, { recursive: true, force: true }))
  return { SVC_AGENT_COMMAND: 'exec node start.cjs', SVC_AGENT_DIR: dir }
}

const AGENT_PROGRAM = `
const fs = require('node:fs')
const http = require('node:http')
const { spawnSync } = require('node:child_process')
const text = fs.readFileSync(0, 'utf8')
const brief = JSON.parse(text)
const { js, python, sh } = brief.task.input

if (python) spawnSync('python3', ['-c', python], { input: text, stdio: ['pipe', 'inherit', 'inherit'] })
else if (sh) spawnSync('sh', ['-c', sh], { input: text, stdio: ['pipe', 'inherit', 'inherit'] })
else runJs()

function runJs() {
  const AsyncFunction = (async () => {}).constructor
  const script = new AsyncFunction('brief', 'say', 'ask', 'require', js)
  script(brief, say, ask, require).catch((error) => say({ error: 'script failed: ' + error.message }))
}

function say(line) {
  let rest = Buffer.from((typeof line === 'string' ? line : JSON.stringify(line)) + '\\n')
  while (rest.length > 0) {
    try {
      rest = rest.subarray(fs.writeSync(1, rest))
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error
    }
  }
}

/** Calls the sandbox plane, with the task token unless another is given. */
function ask(method, path, body, token = brief.service.task_token) {
  return new Promise((resolve, reject) => {
    const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json' }
    const request = http.request({ socketPath: brief.service.socket, method, path, headers }, (response) => {
      let text = ''
      response.on('data', (chunk) => (text += chunk))
      response.on('end', () => resolve({ status: response.statusCode, body: parseJson(text) }))
      response.on('error', reject)
    })
    request.on('error', reject)
    request.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

function parseJson(text) {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
`

/** Starts a task whose agent runs this script. */
export async function startScript(app: TestApp, js: string, extra: Record<string, unknown> = {}): Promise<string> {
  return (await app.createTask({ input: { js }, ...extra })).id
}

/** Runs a task whose agent runs this script, and returns it with its events once it has ended. */
export async function runScript(app: TestApp, js: string, extra: Record<string, unknown> = {}) {
  const id = await startScript(app, js, extra)
  const events = await app.events(id)
  const { body: task } = await app.call('GET', `/v1/tasks/${id}`)
  return { task, events, types: events.map(({ event }) => event) }
}

/** Follows a task until its first event of this type. */
export async function waitForEvent(app: TestApp, id: string, type: string): Promise<StreamedEvent> {
  const events = await app.events(id, { until: ({ event }) => event === type })
  const found = events.at(-1)
  if (found?.event !== type) throw new Error(`expected ${type}, got ${events.map(({ event }) => event).join(', ')}`)
  return found
}

/** The lines of the service's log whose message contains this text. */
export function loggedLines(app: TestApp, message: string): Record<string, unknown>[] {
  return app.logged.map((line) => JSON.parse(line)).filter(({ msg }) => String(msg).includes(message))
}

/** Polls until the condition holds, where no event reports it. */
export async function eventually(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 20))
}
