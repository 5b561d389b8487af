import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type TestApp, testApp, writeFiles } from '../app.ts'
import { blocks, page, ROOT } from './pages.ts'

const PROTOCOL = page('docs/agent-protocol.md')
const ORDER = { order_id: 'A-1', amount_usd: 30, reason: 'arrived damaged', customer_email: 'kim@example.com' }

test('the Python agent of docs/agent-protocol.md handles a refund request', async () => {
  const app = await appWithAgent('agent.py', 'python', 'python3 agent.py')
  const task = await app.createTask(handleRequest(ORDER))
  const types = (await app.events(task.id)).map(({ event }) => event)
  expect(await app.finished(task.id)).toMatchObject({
    status: 'succeeded',
    output: { order_id: 'A-1', decision: 'refund', amount_usd: 30, category: 'damaged' },
    artifacts: [{ name: 'output.json' }, { name: 'entry.json', content_type: 'application/json' }],
  })
  expect(types).toEqual(expect.arrayContaining(['step.started', 'tool.called', 'approval.resolved', 'tool.result']))
  const { body: ledger } = await app.call('GET', '/v1/records?wedge=refund-desk&collection=refund_ledger')
  expect(ledger.data).toMatchObject([{ key: 'A-1', value: { status: 'booked' } }])
})

test('the Python agent of docs/agent-protocol.md waits for approval of a large refund, and its errors fail the task', async () => {
  const app = await appWithAgent('agent.py', 'python', 'python3 agent.py')
  const large = await app.createTask(handleRequest({ ...ORDER, amount_usd: 80 }))
  const requested = (await app.events(large.id, { until: ({ event }) => event === 'approval.requested' })).at(-1)
  await app.call('POST', `/v1/approvals/${requested?.data.data.approval_id}/approve`, {})
  expect(await app.finished(large.id)).toMatchObject({ status: 'succeeded', output: { amount_usd: 80 } })
  const wrong = await app.createTask(handleRequest({ order_id: 'A-2' }))
  expect(await app.finished(wrong.id)).toMatchObject({ status: 'failed', error: { reason: 'agent_failed' } })
})

test('the shell agent of docs/agent-protocol.md completes an assessment', async () => {
  const app = await appWithAgent('agent.sh', 'sh', 'sh agent.sh')
  const task = await app.createTask({ wedge: 'refund-desk', task_type: 'assess', input: ORDER })
  expect(await app.finished(task.id)).toMatchObject({
    status: 'succeeded',
    output: { decision: 'escalate', rationale: 'A shell script does not judge order A-1.' },
    artifacts: [{ name: 'output.json' }, { name: 'note.txt' }],
  })
})

const handleRequest = (input: unknown) => ({ wedge: 'refund-desk', task_type: 'handle_request', input })

/** Starts a service with the only code block of a language on the page as its agent. */
async function appWithAgent(file: string, language: string, command: string): Promise<TestApp> {
  const dir = mkdtempSync(join(tmpdir(), 'svc-docs-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  chmodSync(dir, 0o755)
  const [code, ...more] = blocks(PROTOCOL, language)
  expect(more).toEqual([])
  writeFiles(dir, { [file]: code })
  const agent = { SVC_AGENT_COMMAND: command, SVC_AGENT_DIR: dir }
  return testApp({
    store: 'sqlite',
    env: { SVC_SANDBOX: 'bwrap', SVC_WEDGES_DIR: join(ROOT, 'wedges'), ...agent },
  })
}
