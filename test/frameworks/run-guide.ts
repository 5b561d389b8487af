import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { isJsonObject, type Json, type JsonObject } from '../../src/platform/base/json.ts'
import { type TestApp, testApp, writeFiles } from '../app.ts'
import { blocks, page, ROOT } from '../docs/pages.ts'
import { type ScriptedCall, scriptedModel, type Wire } from './scripted-model.ts'

export interface GuideOptions {
  /** The name of the page below docs/frameworks. */
  guide: string
  wire: Wire
  /** Puts the installed packages (`node_modules`, a virtual environment) into the folder of the agent. */
  installPackages: (agentFolder: string) => void
  /** Applies the `diff` block of the guide to its files. */
  isChanged?: boolean
}

/** Everything that a test can say about a run of the refund desk. */
export interface GuideRun {
  app: TestApp
  task: Record<string, unknown>
  /** The `data` of all events of a type. */
  dataOf: (type: string) => JsonObject[]
  ledger: JsonObject[]
  approvals: JsonObject[]
  /** The requests that the provider has received. */
  requests: { path: string; body: JsonObject }[]
}

const ENTRY = {
  order_id: 'A-1',
  decision: 'refund',
  category: 'damaged',
  amount_usd: 80,
  currency: 'USD',
  status: 'booked',
  customer_message: 'We have refunded your order.',
}
const { status: _status, currency: _currency, ...BOOKING } = ENTRY
const REFUND_OUTPUT = {
  order_id: 'A-1',
  decision: 'refund',
  amount_usd: 80,
  category: 'damaged',
  reply: 'We have refunded your order.',
}

/**
 * What the model does with the request of the guides: it checks the request, books it (which waits for an approval), stores
 * it, and finishes, at first with an output that does not match the schema.
 */
export const REFUND_CALLS: ScriptedCall[] = [
  {
    tool: 'workflow__check_eligibility',
    input: { order_id: 'A-1', amount_usd: 80, reason: 'arrived damaged' },
  },
  { tool: 'workflow__book_refund', input: BOOKING },
  { tool: 'records_put', input: { collection: 'refund_ledger', key: 'A-1', value: ENTRY } },
  { tool: 'finish', input: { output: { order_id: 'A-1' } } },
  { tool: 'finish', input: { output: REFUND_OUTPUT } },
]

/** Follows a guide: its files, its settings and its task, in the sandbox, with a scripted model and one approval. */
export async function runGuide({ guide, wire, installPackages, isChanged = false }: GuideOptions): Promise<GuideRun> {
  const text = page(`docs/frameworks/${guide}.md`)
  const wedges = refundDeskOf(text, isChanged)
  installPackages(join(wedges, 'refund-desk/agent'))
  const model = await scriptedModel(wire, REFUND_CALLS)
  const app = await testApp({
    store: 'sqlite',
    env: { SVC_SANDBOX: 'bwrap', SVC_WEDGES_DIR: wedges, ...model.env },
  })
  const { id } = await app.createTask(guideTask(text))
  const approval = await requestedApproval(app, id)
  const ledgerOf = async () =>
    (await app.call('GET', '/v1/records?wedge=refund-desk&collection=refund_ledger')).body.data
  expect((await app.call('GET', `/v1/tasks/${id}`)).body.status).toBe('awaiting_approval')
  expect(await ledgerOf()).toEqual([])
  await app.call('POST', `/v1/approvals/${approval}/approve`, {})
  const task = await app.finished(id)
  const events = await app.events(id)
  return {
    app,
    task,
    dataOf: (type) => events.filter(({ event }) => event === type).map(({ data }) => data.data),
    ledger: await ledgerOf(),
    approvals: (await app.call('GET', `/v1/approvals?task_id=${id}`)).body.data,
    requests: model.seen,
  }
}

/** The task waited for one approval, had one effect and its output, and its log can be read. */
export function expectRefund({ app, task, dataOf, ledger, approvals, requests }: GuideRun): void {
  expect(task).toMatchObject({ status: 'succeeded', output: REFUND_OUTPUT })
  expect(approvals).toMatchObject([{ action: 'book_refund', status: 'approved', preview: BOOKING }])
  expect(ledger).toMatchObject([{ key: 'A-1', version: 1, value: ENTRY }])
  const tools = dataOf('tool.called').map(({ tool }) => String(tool))
  expect(tools).toEqual(REFUND_CALLS.map(({ tool }) => expect.stringMatching(new RegExp(`${tool}$`))))
  expect(dataOf('tool.called').map(({ input }) => input)).toEqual(REFUND_CALLS.map(({ input }) => input))
  // Each framework sends results in its own form, some as JSON inside of JSON.
  const results = dataOf('tool.result').map((result) => JSON.stringify(result).replaceAll('\\', ''))
  expect(results).toEqual([
    expect.stringContaining('"refundable_usd":80'),
    expect.stringContaining('"status":"booked"'),
    // Mastra shows only the value of a record.
    expect.stringMatching(/"version":1|"status":"booked"/),
    expect.stringMatching(/decision is required|required property 'decision'|schema/),
  ])
  // The program stops after its output: a further call would cost money.
  expect(requests).toHaveLength(REFUND_CALLS.length)
  expect(JSON.stringify([task, dataOf('tool.called'), dataOf('tool.result'), app.logged])).not.toMatch(
    /sk-canary|svc_tsk_/,
  )
}

/** A task that fails before it asks for an approval says why. */
export async function requestedApproval(app: TestApp, id: string): Promise<string> {
  const events = await app.events(id, { until: ({ event }) => event === 'approval.requested' })
  const { body: task } = await app.call('GET', `/v1/tasks/${id}`)
  expect(task).toMatchObject({ error: null })
  return String(events.at(-1)?.data.data.approval_id)
}

/** A wedges folder with the refund desk of this repository and the files of the guide. */
export function refundDeskOf(text: string, isChanged: boolean): string {
  const wedges = mkdtempSync(join(tmpdir(), 'svc-guide-'))
  onTestFinished(() => rmSync(wedges, { recursive: true, force: true }))
  chmodSync(wedges, 0o755)
  cpSync(join(ROOT, 'wedges/refund-desk'), join(wedges, 'refund-desk'), { recursive: true })
  const { 'refund-desk/wedge.json': addition = '{}', ...files } = guideFiles(text)
  const manifest = JSON.parse(readFileSync(join(wedges, 'refund-desk/wedge.json'), 'utf8'))
  writeFiles(wedges, {
    ...(isChanged ? applyDiff(text, files) : files),
    'refund-desk/wedge.json': mergeJson(manifest, JSON.parse(addition)),
  })
  return wedges
}

/** The blocks of a guide that follow a line such as "…, in `refund-desk/agent/agent.mjs`:", by their path. */
export function guideFiles(text: string): Record<string, string> {
  const named = /`([\w./-]+\/[\w./-]+)`:\n\n```\w+\n([\s\S]*?)^```$/gm
  return Object.fromEntries([...text.matchAll(named)].map(([, name = '', code = '']) => [name, code]))
}

/** Replaces the lines with `-` of the only diff block by those with `+`, in the file that has them. */
function applyDiff(text: string, files: Record<string, string>): Record<string, string> {
  const [diff = '', ...more] = blocks(text, 'diff')
  expect(more).toEqual([])
  const lines = diff.split('\n')
  const linesWith = (sign: string) =>
    lines
      .filter((line) => line.startsWith(sign))
      .map((line) => `${line.slice(1)}\n`)
      .join('')
  const found = Object.entries(files).filter(([, code]) => code.includes(linesWith('-')))
  expect(found.map(([name]) => name)).toHaveLength(1)
  return {
    ...files,
    ...Object.fromEntries(found.map(([name, code]) => [name, code.replace(linesWith('-'), () => linesWith('+'))])),
  }
}

/** The task of the `./svc run` command of a guide. */
export function guideTask(text: string): JsonObject {
  const [, wedge = '', task_type = '', input = ''] =
    /svc run ([\w-]+) (\w+) --input '([^']+)'/.exec(text) ?? expect.fail('the guide has no `./svc run` command')
  return { wedge, task_type, input: JSON.parse(input) }
}

function mergeJson(base: Json | undefined, addition: Json): Json {
  if (!isJsonObject(base) || !isJsonObject(addition)) return addition
  const merged = Object.entries(addition).map(([name, value]) => [name, mergeJson(base[name], value)])
  return { ...base, ...Object.fromEntries(merged) }
}

/**
 * Links all files of some folders below `from` into another folder, because the sandbox shows only the folder of the agent.
 * Copies them where links are not possible.
 */
export function linkFolders(from: string, names: string[], to: string): void {
  const linked = spawnSync('cp', ['-rl', '--parents', ...names, to], { cwd: from, stdio: 'ignore' })
  if (linked.status === 0) return
  for (const name of names) cpSync(join(from, name), join(to, name), { recursive: true, verbatimSymlinks: true })
}
