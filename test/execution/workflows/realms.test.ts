import { beforeAll, describe, expect, test } from 'vitest'
import type { Json } from '../../../src/platform/base/json.ts'
import { WORKFLOW_MODULES } from '../../../src/platform/contract/workflow-protocol.ts'
import type { SandboxDriver } from '../../../src/execution/sandbox/driver.ts'
import { pickSandboxDriver } from '../../../src/execution/sandbox/pick-driver.ts'
import { sharedApp } from '../../app.ts'
import { bundledWorkflowProgram, openWorkflowRunner, problemFrom, wedgeWithWorkflows } from './workflow-wedge.ts'

const program = bundledWorkflowProgram()
let driver: SandboxDriver
beforeAll(async () => {
  driver = await pickSandboxDriver('bwrap', () => {})
})

/** Calls the workflow `main` with each of the arguments in turn. All calls use one process. */
async function callsInOneProcess(source: string, ...args: Json[]): Promise<Json[]> {
  const runner = openWorkflowRunner(driver, program.dir)
  const wedge = await wedgeWithWorkflows({ main: source })
  const results: Json[] = []
  for (const one of args) {
    // A failed call has its message as result, so that a test can see the calls after it.
    results.push(await runner.call(wedge, 'prj_1', 'main', one).catch((error: Error) => error.message))
  }
  expect(runner.processCount).toBe(1)
  return results
}

/** A deep merge without care, as many libraries had it. */
const MERGE = `const merge = (to, from) => {
  for (const key of Object.keys(from)) {
    if (typeof from[key] === 'object' && typeof to[key] === 'object') merge(to[key], from[key])
    else to[key] = from[key]
  }
  return to
}
`

describe('nothing survives from one workflow call to the next', () => {
  test.each([
    [
      'a changed prototype',
      'Object.prototype.limit ??= args; Array.prototype.limit ??= args\nreturn [({}).limit, [].limit]',
    ],
    ['a changed built-in function', 'const old = JSON.parse.mark; JSON.parse.mark = args; return [old ?? args]'],
    ['a global', 'globalThis.seen ??= args; return [globalThis.seen]'],
    [
      'a symbol property of a function of a module',
      "const at = Symbol.for('mark'); try { Buffer[at] = args } catch {}; return [Buffer[at] ?? args]",
    ],
  ])('%s is gone', async (_, body) => {
    const [first, second] = await callsInOneProcess(`export default (args) => { ${body} }`, 'A', 'B')
    expect(first).toContain('A')
    expect(second).not.toContain('A')
  })

  test('variables of a module are gone, also of an imported file', async () => {
    const runner = openWorkflowRunner(driver, program.dir)
    const wedge = await wedgeWithWorkflows({
      main: "import { cache } from './lib/cache.mjs'\nconst seen = []\nexport default (who) => { seen.push(who); cache.set(who, 1); return [seen, [...cache.keys()]] }",
      'lib/cache': 'export const cache = new Map()',
    })
    for (const who of ['A', 'B']) expect(await runner.call(wedge, 'prj_1', 'main', who)).toEqual([[who], [who]])
    expect(runner.processCount).toBe(1)
  })

  test('a workflow cannot change an object that the process shares between calls', async () => {
    const source = `
      import crypto, { createHash } from 'node:crypto'
      import * as all from 'node:util'
      const outer = Object.getPrototypeOf(Object.getPrototypeOf(Buffer.from('a')))
      const attempts = {
        'function of a prototype': () => { Buffer.prototype.toString = () => 'forged' },
        'new property of a prototype': () => { URL.prototype.mark = 1 },
        'property of an object of the language': () => { outer.mark = 1 },
        'object of the language by its prototype': () => { Buffer.from('a').__proto__.__proto__.__proto__.__proto__.limit = 1 },
        'export of a module': () => { crypto.createHash = () => 'forged' },
        'property of an instance by its class': () => { createHash('sha256').constructor.prototype.update = 1 },
        'accessor of a prototype': () => { Object.getOwnPropertyDescriptor(Buffer.prototype, 'toString').get.mark = 1 },
        'default options': () => { all.inspect.defaultOptions = { depth: 9 } },
        'code': () => { Buffer.constructor('globalThis.mark = 1')() },
        'code of an own function': () => { new Function('return 1')() },
        'code of a timer': () => { setTimeout.constructor('return 1')() },
      }
      export default () => Object.entries(attempts).filter(([, attempt]) => { try { attempt(); return true } catch { return false } }).map(([name]) => name)`
    expect(await callsInOneProcess(source, {}, {})).toEqual([[], []])
  })

  test('the memory of buffers contains nothing of earlier calls', async () => {
    const source = `export default (text) => {
      const seen = Buffer.from('x').buffer.byteLength
      Buffer.from(text)
      return [seen, Buffer.allocUnsafe(4096).every((byte) => byte === 0), Buffer.allocUnsafeSlow(65536).every((byte) => byte === 0)]
    }`
    const clean = [1, true, true]
    expect(await callsInOneProcess(source, 'A'.repeat(3000), 'A'.repeat(60000), '')).toEqual([clean, clean, clean])
  })

  test('the memory of a realm is given back: a process has enough for the thousand calls that it serves', async () => {
    const results = await callsInOneProcess('export default () => 1', ...Array.from({ length: 990 }, () => null))
    expect(new Set(results)).toEqual(new Set([1]))
  })

  test('timers, promises and errors of an earlier call do not reach the next one', async () => {
    const source = `export default async (mode) => {
      if (mode === 'timer') setTimeout(() => { throw new Error('late') }, 20)
      if (mode === 'interval') setInterval(() => {}, 1)
      if (mode === 'promise') void Promise.reject(new Error('not awaited'))
      if (mode === 'wait') await new Promise((resolve) => setTimeout(resolve, 60))
      return mode
    }`
    const modes = ['timer', 'wait', 'interval', 'wait', 'promise', 'wait']
    expect(await callsInOneProcess(source, ...modes)).toEqual(modes)
  })

  test('an error in a timer and a rejected promise fail the call that they belong to', async () => {
    const source = `export default (mode) => new Promise((resolve) => {
      if (mode === 'timer') setTimeout(() => { throw new Error('in a timer') }, 1)
      else if (mode === 'promise') void Promise.reject(new Error('not awaited'))
      else resolve(mode)
    })`
    expect(await callsInOneProcess(source, 'timer', 'promise', 'fine')).toEqual([
      expect.stringContaining('in a timer'),
      expect.stringContaining('not awaited'),
      'fine',
    ])
  })
})

test('own __proto__ keys are dropped from the arguments of a workflow', async () => {
  const source = `${MERGE}export default (args) => {
    const merged = merge({ amount: 0, nested: {} }, args)
    return [Object.keys(merged), Object.keys(merged.nested), ({}).limit ?? 'none', merged.text]
  }`
  const args = JSON.parse(
    '{"amount": 1, "__proto__": {"limit": 9}, "nested": {"a": [{"__proto__": 1}], "__proto__": {"limit": 9}}, "text": "\\"__proto__\\":1"}',
  )
  expect(await callsInOneProcess(source, args)).toEqual([
    [['amount', 'nested', 'text'], ['a'], 'none', '"__proto__":1'],
  ])
})

describe('what a workflow may use', () => {
  test('a workflow can import the offered modules of Node, with and without node:', async () => {
    const source = `export default async (names) => Promise.all(names.map(async (name) => {
      const [full, short] = [await import('node:' + name), await import(name)]
      return full === short && Object.keys(full.default).length > 0 && Object.keys(full).length > 1
    }))`
    expect(await callsInOneProcess(source, [...WORKFLOW_MODULES])).toEqual([WORKFLOW_MODULES.map(() => true)])
  })

  test('a workflow can import a file dynamically, twice at once and in every call', async () => {
    const runner = openWorkflowRunner(driver, program.dir)
    const wedge = await wedgeWithWorkflows({
      main: `export default async () => {
        const [one, two, url] = await Promise.all([import('./lib/one.mjs'), import('./lib/one.mjs'), import('./lib/url.mjs')])
        return [one === two, one.n, url.default, (await import('./lib/one.mjs')) === one]
      }`,
      'lib/one': "import './url.mjs'\nexport const n = 1",
      'lib/url': 'export default import.meta.url',
    })
    for (let n = 0; n < 3; n++) {
      expect(await runner.call(wedge, 'prj_1', 'main', {})).toEqual([true, 1, 'file:///workflows/lib/url.mjs', true])
    }
  })

  test('offered modules and globals work', async () => {
    const source = `
      import assert from 'node:assert'
      import { createHash, createHmac, randomUUID, scryptSync } from 'node:crypto'
      import { isDeepStrictEqual, format, inspect } from 'node:util'
      import path from 'node:path'
      import { StringDecoder } from 'node:string_decoder'
      export default async ({ text }) => ({
        hash: createHash('sha256').update(text).digest('hex').slice(0, 8),
        stream: await new Promise((resolve) => { const hash = createHash('sha1'); hash.on('readable', () => { const data = hash.read(); if (data) resolve(data.toString('hex').slice(0, 8)) }); hash.end(text) }),
        hmac: createHmac('sha256', 'key').update(new Uint8Array([1, 2])).digest('base64').length,
        key: scryptSync('a', 'b', 8).length,
        subtle: Buffer.from(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))).toString('hex').slice(0, 8),
        uuid: randomUUID().length,
        base64: Buffer.from(text).toString('base64') + btoa(atob('YQ==')),
        equal: isDeepStrictEqual({ a: [1] }, { a: [1] }),
        format: format('%s %d', 'a', 1) + inspect({ a: 1 }),
        path: path.join('a', '../b'),
        decoded: new StringDecoder('utf8').write(Buffer.from([0xc3, 0xa9])),
        url: new URL('?q=1', 'https://example.com/a').searchParams.get('q'),
        clone: structuredClone({ a: [1] }).a[0],
        assert: (() => { try { assert.deepStrictEqual({ a: 1 }, { a: 2 }) } catch (error) { return error.code } })(),
        invalid: (() => { try { new URL('x') } catch (error) { return error.code } })(),
      })`
    expect(await callsInOneProcess(source, { text: 'abc' })).toEqual([
      {
        hash: 'ba7816bf',
        stream: 'a9993e36',
        hmac: 44,
        key: 8,
        subtle: 'ba7816bf',
        uuid: 36,
        base64: 'YWJjYQ==',
        equal: true,
        format: 'a 1{ a: 1 }',
        path: 'b',
        decoded: 'é',
        url: '1',
        clone: 1,
        assert: 'ERR_ASSERTION',
        invalid: 'ERR_INVALID_URL',
      },
    ])
  })

  test.each([
    'node:fs',
    'fs',
    'node:child_process',
    'node:vm',
    'left-pad',
    '/etc/passwd',
    'file:///etc/passwd',
    'data:text/javascript,1',
  ])('an import of %s fails with the list of what is offered', async (name) => {
    const message = `workflow 'main' failed: workflows cannot import '${name}': only files of the wedge and node:assert, node:buffer`
    const imported = await callsInOneProcess(`import '${name}'\nexport default () => 1`, {})
    const dynamic = await callsInOneProcess(
      `export default async () => { try { await import('${name}') } catch (error) { return error instanceof Error && error.message } }`,
      {},
    )
    expect(imported).toEqual([expect.stringContaining(message)])
    expect(dynamic).toEqual([expect.stringContaining(`workflows cannot import '${name}'`)])
  })

  test('process, require and the network are not defined', async () => {
    const source = 'export default () => [typeof process, typeof require, typeof fetch, typeof WebSocket]'
    expect(await callsInOneProcess(source, {})).toEqual([['undefined', 'undefined', 'undefined', 'undefined']])
  })
})

describe('error of a workflow', () => {
  test.each([
    [
      'the file and line of an error',
      { main: 'export default () => {\n  const order = {}\n  void order\n  return order.lines.length\n}' },
      /\(workflows\/main\.mjs:4:22\)$/,
    ],
    [
      'the position in an imported file',
      {
        main: "import { run } from './lib/run.mjs'\nexport default () => run()",
        'lib/run': "export const run = () => {\n  throw new Error('boom')\n}",
      },
      /: boom \(workflows\/lib\/run\.mjs:2:9\)$/,
    ],
    [
      'the file of a syntax error',
      { main: "import './lib/run.mjs'\nexport default () => 1", 'lib/run': 'export const a = 1\nconst = 2' },
      /: Unexpected token '=' \(workflows\/lib\/run\.mjs\)$/,
    ],
    [
      'the import that has no such export',
      { main: "import { absent } from './lib/run.mjs'\nexport default () => absent", 'lib/run': 'export const a = 1' },
      /does not provide an export named 'absent'/,
    ],
  ])('it names %s', async (_, files, message) => {
    const runner = openWorkflowRunner(driver, program.dir)
    const wedge = await wedgeWithWorkflows(files)
    for (let n = 0; n < 2; n++) {
      expect(await problemFrom(runner.call(wedge, 'prj_1', 'main', {}))).toEqual([422, expect.stringMatching(message)])
    }
    expect(runner.processCount).toBe(1)
  })
})

const app = sharedApp({
  store: 'sqlite',
  wedges: {
    'desk/wedge.json': {
      wedge: 'desk',
      workflows: [{ name: 'check' }],
      task_types: { check: { harness: { shape: 'workflow' } } },
    },
    'desk/workflows/check.mjs': `${MERGE}
      const seen = []
      export default (args) => {
        const { limit } = merge({ amount: 0 }, args)
        const before = [...seen]
        seen.push(args.iban)
        return { limit: limit ?? 50, before }
      }`,
  },
  env: { SVC_SANDBOX: 'bwrap', SVC_POOL: '1' },
})

test('a task of one client does not change the result of a task of another client', async () => {
  const outputOf = async (input: Json) => {
    const { id } = await app().createTask({ wedge: 'desk', task_type: 'check', input })
    await app().events(id)
    return (await app().call('GET', `/v1/tasks/${id}`)).body.output
  }
  const honest = { amount: 1 }
  expect(await outputOf(honest)).toEqual({ limit: 50, before: [] })
  expect(await outputOf(JSON.parse('{"iban": "private", "__proto__": {"limit": 1000000}}'))).toEqual({
    limit: 50,
    before: [],
  })
  expect(await outputOf(JSON.parse('{"constructor": {"prototype": {"limit": 1000000}}}'))).toMatchObject({ before: [] })
  expect(await outputOf(honest)).toEqual({ limit: 50, before: [] })
})
