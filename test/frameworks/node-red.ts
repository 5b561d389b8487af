import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { testApp } from '../app.ts'
import { blocks, page, ROOT } from '../docs/pages.ts'
import { freePort } from '../free-port.ts'
import { advanceUntil } from '../automation/webhooks/webhook-receiver.ts'

/** Not part of `npm test`: `scripts/test-newest-node-red.mjs` installs Node-RED in this folder. */
const FOLDER = process.env['NODE_RED_FOLDER'] ?? ''

const [, FLOW = ''] = blocks(page('docs/automation-tools.md'), 'json')

test('Node-RED runs the flow of its guide: it creates a task, and approves its request after the webhook', async () => {
  const app = await testApp({
    store: 'sqlite',
    env: { SVC_SANDBOX: 'bwrap', SVC_WEDGES_DIR: join(ROOT, 'wedges'), SVC_EGRESS_ALLOW: '127.0.0.1/32' },
  })
  const { key } = (await app.call('POST', '/v1/keys', { name: 'Node-RED', role: 'operator' })).body
  const url = await startNodeRed({ SVC_URL: app.url, SVC_KEY: key })
  const hook = await app.call('POST', '/v1/webhooks', { url: `${url}/svc`, events: ['approval.requested'] })
  expect(hook.status).toBe(201)
  expect((await fetch(`${url}/inject/svc-start`, { method: 'POST' })).status).toBe(200)
  const list = async (path: string) => (await app.call('GET', path)).body.data
  await advanceUntil(app, async () => (await list('/v1/tasks?status=succeeded')).length > 0)
  expect(await list('/v1/tasks')).toMatchObject([{ task_type: 'handle_request', output: { amount_usd: 80 } }])
  expect(await list('/v1/approvals')).toMatchObject([{ status: 'approved', note: 'approved by Node-RED' }])
})

/** Starts Node-RED with the flow, and returns its address. */
async function startNodeRed(env: Record<string, string>): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-node-red-'))
  const port = await freePort()
  writeFileSync(join(folder, 'flows.json'), FLOW)
  const settings = { uiHost: '127.0.0.1', uiPort: port, flowFile: 'flows.json', telemetry: { enabled: false } }
  writeFileSync(join(folder, 'settings.js'), `module.exports = ${JSON.stringify(settings)}`)
  const child = spawn(process.execPath, [join(FOLDER, 'node_modules/node-red/red.js'), '--userDir', folder], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(async () => {
    child.kill()
    await once(child, 'exit')
    rmSync(folder, { recursive: true, force: true })
  })
  await flowsStarted(child)
  return `http://127.0.0.1:${port}`
}

async function flowsStarted({ stdout }: ChildProcess): Promise<void> {
  let printed = ''
  for await (const chunk of stdout?.iterator({ destroyOnReturn: false }) ?? []) {
    printed += String(chunk)
    if (printed.includes('Started flows')) return void stdout?.resume()
  }
  expect.fail(`Node-RED did not start: ${printed}`)
}
