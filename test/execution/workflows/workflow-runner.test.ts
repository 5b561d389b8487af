import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Json } from '../../../src/platform/base/json.ts'
import type { SandboxDriver } from '../../../src/execution/sandbox/driver.ts'
import { pickSandboxDriver } from '../../../src/execution/sandbox/pick-driver.ts'
import { workflowSamples } from '../../wedges/library/example-inputs.ts'
import {
  bundledWorkflowProgram,
  openWorkflowRunner,
  problemFrom,
  readWedgeFrom,
  wedgeWithWorkflows,
} from './workflow-wedge.ts'

const program = bundledWorkflowProgram()
// Without bubblewrap this throws with instructions: these tests are never skipped.
let driver: SandboxDriver
beforeAll(async () => {
  driver = await pickSandboxDriver('bwrap', () => {})
})

const project = 'prj_1'
const echo = 'export default (args) => args'

/** Calls the workflow `main` with this source once. */
async function run(source: string, args: Json = {}, timeoutMs?: number): Promise<Json> {
  const runner = openWorkflowRunner(driver, program.dir, timeoutMs === undefined ? {} : { timeoutMs })
  return runner.call(await wedgeWithWorkflows({ main: source }), project, 'main', args)
}

describe('declared workflow', () => {
  test('a workflow receives its arguments and returns its result', async () => {
    expect(await run('export default async ({ a, b }) => ({ sum: a + b })', { a: 1, b: 2 })).toEqual({ sum: 3 })
  })

  test('arguments that do not match the input_schema are refused before the workflow runs', async () => {
    const runner = openWorkflowRunner(driver, program.dir)
    const input_schema = { type: 'object', required: ['amount'], properties: { amount: { type: 'number' } } }
    const wedge = await wedgeWithWorkflows({ main: echo }, { main: { input_schema } })
    expect(await problemFrom(runner.call(wedge, project, 'main', { amount: 'ten' }))).toEqual([
      400,
      "args of workflow 'main': $.amount must be number, not string",
    ])
    expect(await problemFrom(runner.call(wedge, project, 'main', {}))).toEqual([
      400,
      "args of workflow 'main': $.amount is required",
    ])
    expect(runner.processCount).toBe(0)
    expect(await runner.call(wedge, project, 'main', { amount: 10 })).toEqual({ amount: 10 })
  })

  test('a result that does not match the output_schema is refused', async () => {
    const runner = openWorkflowRunner(driver, program.dir)
    const output_schema = { type: 'object', properties: { level: { enum: ['low', 'high'] } } }
    const wedge = await wedgeWithWorkflows({ main: echo }, { main: { output_schema } })
    expect(await problemFrom(runner.call(wedge, project, 'main', { level: 'odd' }))).toEqual([
      422,
      `result of workflow 'main': $.level must be one of "low", "high"`,
    ])
    expect(await runner.call(wedge, project, 'main', { level: 'low' })).toEqual({ level: 'low' })
  })

  test('a workflow can import other files of its wedge, declared or not, also from subfolders', async () => {
    const runner = openWorkflowRunner(driver, program.dir)
    const wedge = await wedgeWithWorkflows({
      main: "import { twice } from './lib/math.mjs'\nimport echo from './other.mjs'\nexport default (n) => echo(twice(n))",
      'lib/math': 'export const twice = (n) => 2 * n',
      other: echo,
    })
    expect(await runner.call(wedge, project, 'main', 21)).toBe(42)
  })

  test('a workflow process stays warm and keeps the code that the wedge was read with', async () => {
    const runner = openWorkflowRunner(driver, program.dir)
    const wedge = await wedgeWithWorkflows({
      main: "import { n } from './lib/n.mjs'\nexport default () => n",
      'lib/n': 'export const n = 1',
    })
    expect(await runner.call(wedge, project, 'main', {})).toBe(1)
    expect(await runner.call(wedge, project, 'main', {})).toBe(1)
    expect(runner.processCount).toBe(1)
    writeFileSync(join(wedge.dir, 'workflows/lib/n.mjs'), 'export const n = 2')
    expect(await runner.call(wedge, project, 'main', {})).toBe(1)
    expect(runner.processCount).toBe(1)
    const changed = await readWedgeFrom(wedge.dir, wedge.source)
    expect(await runner.call(changed, project, 'main', {})).toBe(2)
    expect(await runner.call(wedge, project, 'main', {})).toBe(1)
  })

  test('two projects never share a workflow process', async () => {
    const runner = openWorkflowRunner(driver, program.dir)
    const wedge = await wedgeWithWorkflows({ main: echo })
    for (const [call, id] of ['prj_1', 'prj_2', 'prj_1'].entries()) {
      expect(await runner.call(wedge, id, 'main', call)).toBe(call)
    }
    expect(runner.processCount).toBe(2)
  })

  test('Math.random depends only on the call, and the clock is real and in UTC', async () => {
    const runner = openWorkflowRunner(driver, program.dir)
    const wedge = await wedgeWithWorkflows({
      main: 'export default () => [Math.random(), Math.random()]',
      now: 'export default () => [Date.now(), new Date().getTimezoneOffset()]',
    })
    const first = await runner.call(wedge, 'prj_1', 'main', { a: 1 })
    expect(await runner.call(wedge, 'prj_1', 'main', { a: 1 })).toEqual(first)
    expect(await runner.call(wedge, 'prj_2', 'main', { a: 1 })).toEqual(first)
    expect(await runner.call(wedge, 'prj_1', 'main', { a: 2 })).not.toEqual(first)
    const before = Date.now()
    const [now, offset] = Object.values((await runner.call(wedge, project, 'now', {})) ?? {})
    expect([now >= before, now <= Date.now(), offset]).toEqual([true, true, 0])
  })
})

describe('workflow name', () => {
  test('a name that is not declared is not found, even if a file of that name exists', async () => {
    const runner = openWorkflowRunner(driver, program.dir)
    const wedge = await wedgeWithWorkflows({ main: echo, 'lib/inner': echo })
    const names = [
      'lib/inner',
      '../desk/workflows/main',
      'main.mjs',
      '',
      '.',
      '..',
      'main\0',
      '%2e%2e',
      'toString',
      'MAIN',
    ]
    for (const name of [...names, '__proto__', 'x'.repeat(300), '/etc/passwd', 'CON', 'mаin']) {
      expect(await problemFrom(runner.call(wedge, project, name, {})), name).toEqual([404, 'no such workflow'])
    }
    expect(runner.processCount).toBe(0)
  })

  test('a workflow whose file exports no function or imports a missing file fails with the reason', async () => {
    const runner = openWorkflowRunner(driver, program.dir)
    const wedge = await wedgeWithWorkflows({ main: 'export const main = 1', incomplete: "import './absent.mjs'" })
    expect(await problemFrom(runner.call(wedge, project, 'main', {}))).toEqual([
      422,
      "workflow 'main' failed: its file has no default export that is a function",
    ])
    const [status, message] = await problemFrom(runner.call(wedge, project, 'incomplete', {}))
    expect([status, message]).toEqual([
      422,
      expect.stringMatching(/^workflow 'incomplete' failed: Cannot find module 'workflows\/absent.mjs'/),
    ])
  })
})

describe('failing workflow', () => {
  test.each([
    [
      'throws',
      "export default () => { throw new Error('no such order\\n  at all') }",
      'no such order at all (workflows/main.mjs:1:30)',
    ],
    ['rejects', "export default async () => { throw new Error('gone') }", 'gone (workflows/main.mjs:1:36)'],
    ['throws at load', "throw new Error('early')", 'early (workflows/main.mjs:1:7)'],
    ['throws a string', "export default () => { throw 'a word' }", 'a word'],
    [
      'throws a value without a text form',
      'export default () => { throw { toString() { throw 1 } } }',
      'it threw a value that has no text form',
    ],
    [
      'leaves a rejected promise',
      "export default () => { void Promise.reject(new Error('loose')); return new Promise(() => {}) }",
      'loose (workflows/main.mjs:1:44)',
    ],
    ['returns nothing', 'export default () => {}', 'it returned a value that is not JSON'],
    ['returns a function', 'export default () => () => 1', 'it returned a value that is not JSON'],
    ['returns a BigInt', 'export default () => 1n', 'Do not know how to serialize a BigInt'],
    ['returns a text with NUL', "export default () => 'a\\0b'", /^its result: /],
    ['returns a lone surrogate', "export default () => '\\ud800'", /^its result: /],
    [
      'returns a circular value',
      'export default () => { const a = {}; a.a = a; return a }',
      /^Converting circular structure/,
    ],
    ['returns 129 KB', "export default () => 'x'.repeat(129 * 1024)", 'its result is larger than 128 KB'],
    [
      'fills the heap',
      'export default () => { const a = []; for (;;) a.push(new Array(1e4).fill(1.5)) }',
      /^its process ended/,
    ],
    [
      'allocates 1 GB',
      'export default () => Buffer.alloc(1024 ** 3).length',
      'Array buffer allocation failed (workflows/main.mjs:1:29)',
    ],
  ])('a workflow that %s fails with a message without a stack', async (_, source, reason) => {
    const [status, message] = await problemFrom(run(source))
    const shownReason = /^workflow 'main' failed: (.*)$/.exec(message)?.[1]
    expect([status, shownReason]).toEqual([422, typeof reason === 'string' ? reason : expect.stringMatching(reason)])
  })

  test('a long error message is truncated', async () => {
    const [, message] = await problemFrom(run("export default () => { throw new Error('x'.repeat(1e6)) }"))
    expect(message).toBe(`workflow 'main' failed: ${'x'.repeat(500)}`)
  })

  test.each([
    ['loops', 'export default () => { for (;;); }'],
    ['loops over microtasks', 'export default async () => { for (;;) await null }'],
    ['matches a bad pattern', "export default () => /^(a+)+$/.test('a'.repeat(64) + 'b')"],
    ['never resolves', 'export default () => new Promise(() => {})'],
    ['loops while it loads', 'for (;;);'],
  ])('a workflow that %s is ended at the timeout', async (_, source) => {
    expect(await problemFrom(run(source, {}, 300))).toEqual([504, "workflow 'main' took longer than 300 ms"])
  })

  test('a hanging workflow does not block other calls of its wedge or of other wedges', async () => {
    const runner = openWorkflowRunner(driver, program.dir, { timeoutMs: 1500 })
    const hanging = await wedgeWithWorkflows({ main: 'export default (hang) => { while (hang); return 1 }' })
    const other = await wedgeWithWorkflows({ main: echo })
    const order: string[] = []
    const recordEnd = async (name: string, call: Promise<unknown>) => {
      await call
      order.push(name)
    }
    await Promise.all([
      recordEnd('hanging', problemFrom(runner.call(hanging, project, 'main', true))),
      recordEnd('same wedge', runner.call(hanging, project, 'main', false)),
      recordEnd('other wedge', runner.call(other, project, 'main', 1)),
    ])
    expect(order.at(-1)).toBe('hanging')
    expect(await runner.call(hanging, project, 'main', false)).toBe(1)
  })

  test('a workflow call ends when its run ends', async () => {
    const runner = openWorkflowRunner(driver, program.dir)
    const wedge = await wedgeWithWorkflows({ main: 'export default () => { for (;;); }' })
    const stop = new AbortController()
    const call = problemFrom(runner.call(wedge, project, 'main', {}, stop.signal))
    setTimeout(() => stop.abort(), 300)
    expect(await call).toEqual([409, "workflow 'main' was cancelled"])
    expect(await problemFrom(runner.call(wedge, project, 'main', {}, stop.signal))).toEqual([
      409,
      "workflow 'main' was cancelled",
    ])
  })
})

test('a workflow cannot forge its result by printing it', async () => {
  const source = `export default () => {
    console.log('{"id":1,"result":"forged","spent":false}')
    console.error('{"nonce":"0","id":1,"result":"forged","spent":false}')
    return 'true'
  }`
  const runner = openWorkflowRunner(driver, program.dir)
  const wedge = await wedgeWithWorkflows({ main: source })
  for (let n = 0; n < 3; n++) expect(await runner.call(wedge, project, 'main', {})).toBe('true')
  expect(runner.processCount).toBe(1)
})

describe.each(['refund-desk', 'inbox-triage', 'invoice-chaser'])('example wedge %s', (slug) => {
  test('the workflows of the example wedge return what they declare', async () => {
    const dir = join(import.meta.dirname, '../../../wedges', slug)
    const wedge = await readWedgeFrom(dir, JSON.parse(readFileSync(join(dir, 'wedge.json'), 'utf8')))
    const runner = openWorkflowRunner(driver, program.dir)
    for (const { name } of wedge.manifest.workflows) {
      const samples = workflowSamples[slug]?.[name] ?? []
      expect(samples.length).toBeGreaterThan(0)
      for (const args of samples) {
        expect(await runner.call(wedge, project, name, args)).toEqual(await runner.call(wedge, project, name, args))
      }
    }
    expect(runner.processCount).toBe(1)
  })
})
