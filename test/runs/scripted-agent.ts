import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { type TestApp, writeFiles } from '../app.ts'
import type { StreamedEvent } from '../http.ts'

/**
 * A folder with a custom agent that does what the task's input says: `{js}` is the body of an async function that
 * gets the words below, `{python}` and `{sh}` are whole programs. Removed after the tests of the file.
 */
export function scriptedAgentFolder(): { SVC_AGENT_COMMAND: string; SVC_AGENT_DIR: string } {
  const dir = mkdtempSync(join(tmpdir(), 'svc-agents-'))
  chmodSync(dir, 0o755)
  writeFiles(dir, { 'start.cjs': START })
  afterAll(() => rmSync(dir, { recursive: true, force: true }))
  return { SVC_AGENT_COMMAND: 'exec node start.cjs', SVC_AGENT_DIR: dir }
}

const START = `
const fs = require('node:fs')
const http = require('node:http')
const { spawnSync } = require('node:child_process')
const text = fs.readFileSync(0, 'utf8')
const brief = JSON.parse(text)
const { js, python, sh } = brief.task.input

if (python) spawnSync('python3', ['-c', python], { input: text, stdio: ['pipe', 'inherit', 'inherit'] })
else if (sh) spawnSync('sh', ['-c', sh], { input: text, stdio: ['pipe', 'inherit', 'inherit'] })
else playJs()

function playJs() {
  const AsyncFunction = (async () => {}).constructor
  const play = new AsyncFunction('brief', 'say', 'ask', 'require', js)
  play(brief, say, ask, require).catch((error) => say({ error: 'script failed: ' + error.message }))
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

/** A call on the sandbox plane: with the task token unless another is given. */
function ask(method, path, body, token = brief.service.task_token) {
  return new Promise((resolve, reject) => {
    const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json' }
    const request = http.request({ socketPath: brief.service.socket, method, path, headers }, (answer) => {
      let said = ''
      answer.on('data', (chunk) => (said += chunk))
      answer.on('end', () => resolve({ status: answer.statusCode, body: parsed(said) }))
      answer.on('error', reject)
    })
    request.on('error', reject)
    request.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

function parsed(text) {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
`

/** Starts a task whose agent runs this script. */
export async function startScript(app: TestApp, js: string, more: Record<string, unknown> = {}): Promise<string> {
  return (await app.createTask({ input: { js }, ...more })).id
}

/** The same, to its end. */
export async function runScript(app: TestApp, js: string, more: Record<string, unknown> = {}) {
  const id = await startScript(app, js, more)
  const events = await app.events(id)
  const { body: task } = await app.call('GET', `/v1/tasks/${id}`)
  return { task, events, types: events.map(({ event }) => event) }
}

/** Follows a task until it says this. */
export async function waitForEvent(app: TestApp, id: string, type: string): Promise<StreamedEvent> {
  const events = await app.events(id, { until: ({ event }) => event === type })
  const found = events.at(-1)
  if (found?.event !== type) throw new Error(`no ${type}, but ${events.map(({ event }) => event).join(', ')}`)
  return found
}

/** The lines of the service's log that carry this message. */
export function loggedLines(app: TestApp, message: string): Record<string, unknown>[] {
  return app.logged.map((line) => JSON.parse(line)).filter(({ msg }) => String(msg).includes(message))
}

/** Looks again until it is so, for what no event tells. */
export async function eventually(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 20))
}
