import { execFile } from 'node:child_process'
import { chmodSync, copyFileSync, cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { PYTHON_CLIENT_FILE } from '../../scripts/api-types.ts'
import { webhookSignatureHeaders } from '../../src/connections/executors/webhook.ts'
import { FOUNDER_KEY, type TestApp, testApp, writeFiles } from '../app.ts'
import { blocks, page, ROOT } from '../docs/pages.ts'
import { CLIENT_GUIDE, documentedPrograms, refundDeskTypes } from './documented-programs.ts'
import { compile, createClientProject } from './packed-client.ts'
import { PYTHON } from './run-python.ts'
import { onlyInMatrix } from '../matrix.ts'

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const ORDER = { order_id: 'A-9', amount_usd: 30, reason: 'arrived damaged', customer_email: 'kim@example.com' }

const { folder: project } = createClientProject()
const pythonProject = mkdtempSync(join(tmpdir(), 'svc-client-'))
chmodSync(pythonProject, 0o755)
copyFileSync(PYTHON_CLIENT_FILE, join(pythonProject, 'agent_work_service_client.py'))
afterAll(() => {
  for (const folder of [project, pythonProject]) rmSync(folder, { recursive: true, force: true })
})

async function writeWedgeTypes(): Promise<void> {
  writeFiles(project, { 'refund-desk.ts': await refundDeskTypes('typescript') })
  writeFiles(pythonProject, { 'refund_desk.py': await refundDeskTypes('python') })
}

/** A service with the refund desk and its rehearsed model. */
const openRefundDesk = (env: Record<string, string> = {}): Promise<TestApp> =>
  testApp({ store: 'sqlite', env: { SVC_WEDGES_DIR: join(ROOT, 'wedges'), ...env } })

async function run(program: string, args: string[], folder: string): Promise<string> {
  const env = { SVC_KEY: FOUNDER_KEY, PATH: process.env['PATH'] ?? '' }
  return (await promisify(execFile)(program, args, { cwd: folder, env })).stdout
}

function compileProgram(file: string): void {
  expect(compile(project, [file], ['--module', 'nodenext', '--types', 'node'])).toBe('')
}

const LANGUAGES = {
  TypeScript: {
    language: 'ts',
    readme: 'clients/typescript/README.md',
    runCaller: (code: string) => {
      writeFiles(project, { 'caller.ts': code })
      compileProgram('caller.ts')
      return run(process.execPath, ['caller.js'], project)
    },
    agent: (code: string) => {
      writeFiles(project, { 'agent.ts': code })
      compileProgram('agent.ts')
      return { SVC_AGENT_DIR: project, SVC_AGENT_COMMAND: 'node agent.js' }
    },
  },
  Python: {
    language: 'python',
    readme: 'clients/python/README.md',
    runCaller: (code: string) => {
      writeFiles(pythonProject, { 'caller.py': code })
      return run(PYTHON, ['-B', '-X', 'dev', '-W', 'error', 'caller.py'], pythonProject)
    },
    agent: (code: string) => {
      writeFiles(pythonProject, { 'agent.py': code })
      return { SVC_AGENT_DIR: pythonProject, SVC_AGENT_COMMAND: `${PYTHON} -B agent.py` }
    },
  },
} as const

describe.each(Object.entries(LANGUAGES))('the documented %s code', (_, { language, readme, runCaller, agent }) => {
  test('for callers runs tasks, follows and decides', async () => {
    await writeWedgeTypes()
    const app = await openRefundDesk()
    const guide = await runCaller(documentedPrograms(CLIENT_GUIDE, language).caller(app.url))
    expect(guide).toMatch(/Rehearsed answer[^]*succeeded\napr_\w+ approved\nrefund\n$/)
    expect(await runCaller(documentedPrograms(readme, language).caller(app.url))).toMatch(
      /^1 task\.created\n[^]*\nsucceeded [^]*A-1/,
    )
  })

  test('for the sandbox handles a refund, and asks a person', async () => {
    await writeWedgeTypes()
    const sandbox = { SVC_SANDBOX: 'bwrap' }
    const desk = await openRefundDesk({ ...sandbox, ...agent(documentedPrograms(CLIENT_GUIDE, language).sandbox) })
    const { id } = await desk.createTask({ wedge: 'refund-desk', task_type: 'handle_request', input: ORDER })
    expect(await desk.finished(id)).toMatchObject({
      status: 'succeeded',
      output: { order_id: 'A-9', decision: 'refund', amount_usd: 30, category: 'damaged' },
      artifacts: [{ name: 'output.json' }, { name: 'ruling.json' }],
    })
    const { body: ledger } = await desk.call('GET', '/v1/records?wedge=refund-desk&collection=refund_ledger')
    expect(ledger.data).toMatchObject([{ key: 'A-9', value: { decision: 'refund' } }])
    const asking = await openRefundDesk({ ...sandbox, ...agent(documentedPrograms(readme, language).sandbox) })
    const task = await asking.createTask({ wedge: 'refund-desk', task_type: 'assess', input: ORDER })
    const asked = (await asking.events(task.id, { until: ({ event }) => event === 'approval.requested' })).at(-1)
    const path = `/v1/approvals/${asked?.data.data.approval_id}/approve`
    expect((await asking.call('POST', path, { edited: { answer: 'no' } })).status).toBe(200)
    expect(await asking.finished(task.id)).toMatchObject({ status: 'succeeded', output: { decision: 'decline' } })
  })
})

onlyInMatrix(() => {
  test('the documented commands install the TypeScript client', async () => {
    const parent = mkdtempSync(join(tmpdir(), 'svc-client-'))
    onTestFinished(() => rmSync(parent, { recursive: true, force: true }))
    // A copy of what the commands need, because other tests pack the client at the same time.
    const clone = join(parent, 'agent-work-service')
    const isSource = (path: string) => !path.startsWith(join(ROOT, 'clients/typescript/dist'))
    for (const path of [
      'clients/typescript',
      'console/src/api',
      'console/src/portal',
      'scripts',
      'client-text',
      'src',
      'package.json',
      'tsconfig.json',
    ])
      cpSync(join(ROOT, path), join(clone, path), { recursive: true, filter: isSource })
    symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'))
    writeFiles(parent, {
      'project/package.json': { private: true },
      'project/use.mjs':
        "import { AgentWorkClient } from 'agent-work-service-client'\nconsole.log(typeof AgentWorkClient)",
    })
    const [inClone, inProject] = blocks(page('clients/typescript/README.md'), '')
    const [install, ...pack] = (inClone ?? '').trim().split('\n')
    expect(install).toBe('npm install')
    for (const command of pack) await run('sh', ['-c', command], clone)
    await run('sh', ['-c', inProject ?? 'exit 1'], join(parent, 'project'))
    expect(await run(process.execPath, ['use.mjs'], join(parent, 'project'))).toBe('function\n')
  })
})

test('the documented receivers of webhooks accept calls of the service and no others', async () => {
  const body = JSON.stringify({ id: 'dlv_1', type: 'task.finished', created_at: '', data: { id: 'task_1' } })
  const headers = webhookSignatureHeaders(SECRET, 'dlv_1', Math.floor(Date.now() / 1000), body)
  vi.stubEnv('WEBHOOK_SECRET', SECRET)
  onTestFinished(() => void vi.unstubAllEnvs())
  writeFiles(project, { 'webhook.ts': documentedPrograms(CLIENT_GUIDE, 'ts').webhook })
  compileProgram('webhook.ts')
  const { receiveWebhook } = await import(pathToFileURL(join(project, 'webhook.js')).href)
  const send = (text: string) => receiveWebhook(new Request('http://a/', { method: 'POST', headers, body: text }))
  expect([(await send(body)).status, (await send(`${body} `)).status]).toEqual([204, 400])
  const check = `
import json, sys
os.environ["WEBHOOK_SECRET"], headers, body = json.loads(sys.argv[1])
print(receive_webhook(headers, body.encode()), receive_webhook(headers, b"{}"))`
  writeFiles(pythonProject, { 'webhook.py': documentedPrograms(CLIENT_GUIDE, 'python').webhook + check })
  const output = await run(PYTHON, ['-B', 'webhook.py', JSON.stringify([SECRET, headers, body])], pythonProject)
  expect(output).toBe('task.finished task_1\n204 400\n')
})
