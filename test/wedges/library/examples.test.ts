import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { isJsonObject, type Json, type JsonObject } from '../../../src/platform/base/json.ts'
import type { AmountMapping } from '../../../src/platform/contract/amount.ts'
import { connectionNames, narrowedTools, WedgeManifest } from '../../../src/platform/contract/wedge/wedge-manifest.ts'
import { schemaErrors } from '../../../src/platform/contract/output-schema.ts'
import { evaluatePolicy } from '../../../src/platform/contract/policy.ts'
import { exampleInputs, invoices, workflowSamples } from './example-inputs.ts'
import { playRehearsal, type RehearsalTurn } from './play-rehearsal.ts'

const root = join(import.meta.dirname, '../../..')
const slugs = ['inbox-triage', 'invoice-chaser', 'refund-desk']

test('there are three example wedges and a blueprint for each', () => {
  expect(names(join(root, 'wedges'))).toEqual(slugs)
  expect(names(join(root, 'blueprints'))).toEqual(slugs.map((slug) => `${slug}.json`))
})

describe.each(slugs)('the wedge %s', (slug) => {
  const dir = join(root, 'wedges', slug)
  const source = readObject(join(dir, 'wedge.json'))
  const manifest = WedgeManifest.parse(source)

  test('the manifest has only known keys', () => {
    expect(manifest.wedge).toBe(slug)
    expect(unknownKeys(source, manifest)).toEqual([])
  })

  test('the manifest lists exactly the files of the folder', () => {
    expect(names(join(dir, 'skills'))).toEqual((manifest.skills ?? []).map((name) => `${name}.md`).toSorted())
    expect(names(join(dir, 'knowledge'))).toEqual([...(manifest.knowledge ?? [])].toSorted())
    for (const { name } of manifest.workflows)
      expect(existsSync(join(dir, 'workflows', `${name}.mjs`)), name).toBe(true)
    const known = new Set(manifest.skills)
    const used = Object.values(manifest.task_types).flatMap((type) => type.harness.skills ?? [])
    expect(used.filter((name) => !known.has(name))).toEqual([])
  })

  test('the manifest shows intake, policy, approvals and output schemas', () => {
    expect(manifest.intake.length).toBeGreaterThan(0)
    expect(manifest.policy.auto_approve.length).toBeGreaterThan(0)
    expect(manifest.approvals.length).toBeGreaterThan(0)
    for (const [name, type] of Object.entries(manifest.task_types)) expect(type.output_schema, name).toBeDefined()
  })

  test('every task type has a rehearsal or a workflow', () => {
    const types = Object.entries(manifest.task_types)
    const modelled = types.filter(([, type]) => type.harness.shape !== 'workflow').map(([name]) => `${name}.json`)
    const coded = types.filter(([, type]) => type.harness.shape === 'workflow').map(([name]) => name)
    expect(rehearsalsIn(dir)).toEqual(modelled.toSorted())
    expect(coded.filter((name) => !manifest.workflows.some((workflow) => workflow.name === name))).toEqual([])
  })

  test.each(manifest.workflows)('workflow $name is deterministic and matches its schemas', async (workflow) => {
    const run = await loadWorkflow(dir, workflow.name)
    const samples = workflowSamples[slug]?.[workflow.name] ?? []
    expect(samples.length).toBeGreaterThan(0)
    for (const args of samples) {
      const result = run(structuredClone(args))
      expect(schemaErrors(workflow.input_schema ?? {}, args)).toEqual([])
      expect(schemaErrors(workflow.output_schema ?? {}, result)).toEqual([])
      expect(schemaErrors(manifest.task_types[workflow.name]?.output_schema ?? {}, result)).toEqual([])
      expect(run(structuredClone(args))).toEqual(result)
    }
  })

  test.each(rehearsalsIn(dir))('rehearsal %s ends with an output that matches its schema', async (file) => {
    const taskType = basename(file, '.json')
    const turns: RehearsalTurn[] = JSON.parse(readFileSync(join(dir, 'rehearsals', file), 'utf8'))
    expect(turns.length).toBeLessThan(manifest.task_types[taskType]?.harness.steps ?? 0)
    const workflow = async (name: string, args: JsonObject) => {
      const declared = manifest.workflows.find((workflow) => workflow.name === name)
      expect(schemaErrors(declared?.input_schema ?? { enum: [] }, args)).toEqual([])
      return (await loadWorkflow(dir, name))(args)
    }
    const act = (connection: string, capability: string, payload: JsonObject) => {
      const [name = '', tool = ''] = capability.split(':')
      expect([name, narrowedTools(manifest).get(connection)]).toEqual([connection, [tool]])
      const { config } = blueprintConnections(slug).find((one) => one.name === connection) ?? {}
      const operations = isJsonObject(config) ? objects(config['operations']) : []
      const operation = operations.find((one) => one.name === tool)
      expect(schemaErrors(isJsonObject(operation?.input_schema) ? operation.input_schema : {}, payload)).toEqual([])
    }
    const output = await playRehearsal(turns, exampleInputs[slug]?.[taskType] ?? {}, {
      workflow,
      act,
      records: { invoices },
    })
    expect(schemaErrors(manifest.task_types[taskType]?.output_schema ?? {}, output)).toEqual([])
  })
})

describe.each(slugs)('the blueprint %s', (slug) => {
  const blueprint = readObject(join(root, 'blueprints', `${slug}.json`))
  const manifest = WedgeManifest.parse(readObject(join(root, 'wedges', slug, 'wedge.json')))

  test('the blueprint has the fields of the contract and matches its wedge', () => {
    const fields = ['blueprint', 'title', 'summary', 'sells_as', 'wedge']
    for (const field of fields) expect(typeof blueprint[field], field).toBe('string')
    expect(Object.keys(blueprint)).toEqual([...fields, 'requires_connections', 'schedules', 'seed_knowledge'])
    expect([blueprint['blueprint'], blueprint['wedge']]).toEqual([slug, slug])
    expect(blueprintConnections(slug).map(({ name }) => name)).toEqual(connectionNames(manifest))
  })

  test('the blueprint schedules known task types and seeds known kinds of knowledge', () => {
    for (const schedule of objects(blueprint['schedules'])) {
      expect(Object.keys(manifest.task_types)).toContain(schedule['task_type'])
      expect(schemaErrors(CADENCE, schedule['cadence'] ?? null)).toEqual([])
    }
    for (const item of objects(blueprint['seed_knowledge'])) expect(schemaErrors(KNOWLEDGE, item)).toEqual([])
  })
})

describe('the wedge refund-desk', () => {
  const manifest = WedgeManifest.parse(readObject(join(root, 'wedges/refund-desk/wedge.json')))

  const approves = (action: string, payload: JsonObject, amount: AmountMapping | null = null) =>
    evaluatePolicy(manifest.policy.auto_approve, { action, payload, amount }, () => ({ task: 0, day: 0 })).approve

  test('book_refund is approved automatically up to 50 USD and by a person above', () => {
    expect([50, 50.01].map((amount_usd) => approves('book_refund', { amount_usd }))).toEqual([true, false])
  })

  test('a refund with Stripe is approved automatically up to 5000 cents and by a person above', () => {
    const cents = { path: 'amount', unit: 'minor', currency: 'usd' } as const
    const refund = (amount: number) => approves('stripe:create_refund', { amount }, cents)
    expect([refund(5000), refund(5001)]).toEqual([true, false])
  })

  test.each([
    ['arrived damaged', 180, 'refund', 180],
    ['charged twice for one order', 24, 'refund', 24],
    ['arrived damaged', 900, 'escalate', 0],
    ['I will start a chargeback', 20, 'escalate', 0],
    ['just because', 20, 'escalate', 0],
    ['arrived damaged', 0, 'decline', 0],
  ])('the request "%s" for %d USD gets the decision %s', async (reason, amount_usd, decision, refundable_usd) => {
    const check = await loadWorkflow(join(root, 'wedges/refund-desk'), 'check_eligibility')
    expect(check({ order_id: 'A-1042', amount_usd, reason })).toMatchObject({ decision, refundable_usd })
  })
})

test.each([
  ['refund-desk', 'book_refund', 'customer_message'],
  ['inbox-triage', 'publish_reply', 'reply'],
  ['inbox-triage', 'publish_acknowledgement', 'reply'],
])('the wedge %s: %s changes nothing of the text that was approved', async (slug, name, field) => {
  const run = await loadWorkflow(join(root, 'wedges', slug), name)
  for (const args of workflowSamples[slug]?.[name] ?? []) {
    const result = run(args)
    const { entry = result } = isJsonObject(result) ? result : {}
    expect(isJsonObject(entry) ? entry[field] : null).toBe(args[field])
  }
})

test('the wedge inbox-triage confirms receipt with its own text only', async () => {
  const run = await loadWorkflow(join(root, 'wedges/inbox-triage'), 'publish_acknowledgement')
  expect(() => run({ reply: 'You won.', category: 'bug', urgency: 'low' })).toThrow('reply must be')
})

test('the wedge invoice-chaser reminds once a week, oldest first, and never about a paid invoice', async () => {
  const plan = await loadWorkflow(join(root, 'wedges/invoice-chaser'), 'plan_reminders')
  const records = Object.entries(invoices).map(([key, value]) => ({ key, value }))
  expect(plan({ invoices: records, today: '2026-11-14' })).toEqual({
    day: '2026-11-14',
    checked: 5,
    overdue: 3,
    total_overdue_usd: 1835.6,
    due_reminders: [
      { invoice_id: 'INV-201', level: 'final', days_overdue: 44, amount_usd: 1280 },
      { invoice_id: 'INV-203', level: 'friendly', days_overdue: 4, amount_usd: 75.1 },
    ],
  })
})

test('the blueprints name real providers', () => {
  for (const slug of slugs)
    expect(readFileSync(join(root, 'blueprints', `${slug}.json`), 'utf8')).not.toMatch(/example\./)
})

test('the example wedges contain no address outside example.com', () => {
  const files = ['wedges'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name)),
  )
  for (const file of files) {
    const hosts = [...readFileSync(file, 'utf8').matchAll(/(?:https?:\/\/|@)([a-z0-9.-]+\.[a-z]+)/g)].map(
      ([, host]) => host,
    )
    expect(
      hosts.filter((host) => !/(^|\.)example\.com$/.test(host ?? '')),
      file,
    ).toEqual([])
  }
})

const CADENCE: JsonObject = {
  type: 'object',
  required: ['kind'],
  properties: {
    kind: { enum: ['every', 'daily', 'monthly'] },
    seconds: { type: 'integer' },
    day: { type: 'integer' },
    hour: { type: 'integer' },
    minute: { type: 'integer' },
  },
}

const KNOWLEDGE: JsonObject = {
  type: 'object',
  required: ['name', 'content'],
  properties: {
    name: { type: 'string' },
    content: { type: 'string' },
    kind: { enum: ['note', 'fact', 'correction', 'feedback', 'answer', 'seed'] },
  },
}

const names = (dir: string) => readdirSync(dir).toSorted()
/** The folder may also contain sample data: `<type>.input.json` and `<type>.records.json`. */
const rehearsalsIn = (dir: string) => names(join(dir, 'rehearsals')).filter((file) => /^[^.]+\.json$/.test(file))

function readObject(path: string): JsonObject {
  const value: Json = JSON.parse(readFileSync(path, 'utf8'))
  if (!isJsonObject(value)) throw new Error(`${path} is not an object`)
  return value
}

const blueprintConnections = (slug: string) =>
  objects(readObject(join(root, 'blueprints', `${slug}.json`))['requires_connections'])

const objects = (value: Json | undefined) => (Array.isArray(value) ? value.filter(isJsonObject) : [])

/** The keys that the parser of the manifest drops because it does not know them. It keeps JSON schemas unchanged. */
function unknownKeys(source: Json, parsed: unknown, path = ''): string[] {
  if (Array.isArray(source)) {
    return source.flatMap((item, index) =>
      unknownKeys(item, Array.isArray(parsed) ? parsed[index] : null, `${path}[${index}]`),
    )
  }
  if (!isJsonObject(source) || typeof parsed !== 'object' || parsed === null) return []
  const kept = new Map<string, unknown>(Object.entries(parsed))
  return Object.entries(source).flatMap(([key, value]) =>
    kept.has(key) ? unknownKeys(value, kept.get(key), `${path}.${key}`) : [`${path}.${key}`],
  )
}

async function loadWorkflow(dir: string, name: string): Promise<(args: JsonObject) => Json> {
  const url = pathToFileURL(join(dir, 'workflows', `${name}.mjs`)).href
  const module: { default: (args: JsonObject) => Json } = await import(/* @vite-ignore */ url)
  return module.default
}
