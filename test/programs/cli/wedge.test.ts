import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeEach, describe, expect, test } from 'vitest'
import { writeFiles } from '../../app.ts'
import { callSvc } from './call-svc.ts'
import { PROGRAM, runSvc, temporaryFolder } from './run-svc.ts'

const EXAMPLES = fileURLToPath(new URL('../../../wedges', import.meta.url))

describe('svc wedge', () => {
  test('wedge new creates a wedge without errors whose rehearsal passes', async () => {
    const cwd = temporaryFolder()
    const created = await callSvc(['wedge', 'new', 'front-desk', '--json'], { cwd })
    expect(created.lines[0]).toMatchObject({
      wedge: 'front-desk',
      files: expect.arrayContaining(['rehearsals/answer.json']),
    })
    const checked = await callSvc(['wedge', 'check'], { cwd })
    expect(checked).toMatchObject({ code: 0, stdout: '' })
    // A rehearsal must never use the store of a deployment.
    writeFileSync(join(cwd, 'url'), 'postgres://svc@127.0.0.1:1/svc')
    const env = { SVC_SANDBOX: 'process', DATABASE_URL_FILE: join(cwd, 'url') }
    const rehearsed = await runSvc(['wedge', 'rehearse', 'front-desk', '--json'], { cwd, env })
    expect(rehearsed.lines).toEqual([expect.objectContaining({ task_type: 'answer', passed: true })])
    expect(rehearsed.code).toBe(0)
    expect((await callSvc(['wedge', 'new', 'front-desk'], { cwd })).code).toBe(2)
  })

  test('wedge rehearse stores records, replaces connections and reports what failed', async () => {
    const cwd = temporaryFolder()
    const act = { tool: 'act', input: { connection: 'crm', capability: 'crm:update', payload: { id: '{{input.id}}' } } }
    writeFiles(join(cwd, 'wedges/desk'), {
      'wedge.json': {
        wedge: 'desk',
        connections: ['crm'],
        task_types: {
          good: { harness: { needs_connections: true }, output_schema: { type: 'number' } },
          bad: { output_schema: { type: 'string' } },
          sum: { harness: { shape: 'workflow' } },
          stored: {},
        },
        workflows: [{ name: 'sum' }],
      },
      'workflows/sum.mjs': 'export default ({ a }) => ({ b: a + 1 })',
      'rehearsals/good.json': [{ call: act }, { output: '{{last.status}}' }],
      'rehearsals/good.input.json': { id: 7 },
      'rehearsals/bad.json': [{ output: '{{input.missing}}' }],
      'rehearsals/sum.input.json': { a: 1 },
      'rehearsals/stored.json': [
        { call: { tool: 'records_get', input: { collection: 'orders', key: '{{input.id}}' } } },
        { output: '{{last.value.total}}' },
      ],
      'rehearsals/stored.input.json': { id: 'A-1' },
      'rehearsals/stored.records.json': { orders: { 'A-1': { total: 12 } } },
    })
    const { code, lines } = await runSvc(['wedge', 'rehearse', 'desk', '--json'], {
      cwd,
      env: { SVC_SANDBOX: 'process' },
    })
    expect(lines).toEqual([
      expect.objectContaining({ task_type: 'good', passed: true, detail: '200' }),
      expect.objectContaining({ task_type: 'bad', passed: false, detail: expect.stringContaining('must be string') }),
      expect.objectContaining({ task_type: 'sum', passed: true, detail: '{"b":2}' }),
      expect.objectContaining({ task_type: 'stored', passed: true, detail: '12' }),
    ])
    expect(code).toBe(1)
  })

  test.each(['SIGINT', 'SIGTERM'] as const)(
    'wedge rehearse stops its service and removes its folder on %s',
    async (signal) => {
      const cwd = temporaryFolder()
      const slow = 'export default () => { const end = Date.now() + 4000; while (Date.now() < end); return 1 }'
      writeFiles(cwd, {
        'wedges/desk/wedge.json': {
          wedge: 'desk',
          task_types: { wait: { harness: { shape: 'workflow' } } },
          workflows: [{ name: 'wait' }],
        },
        'wedges/desk/workflows/wait.mjs': slow,
        'wedges/desk/rehearsals/wait.input.json': {},
        'temporary/.keep': '',
      })
      const TMPDIR = join(cwd, 'temporary')
      const child = spawn(process.execPath, [PROGRAM, 'wedge', 'rehearse', 'desk'], {
        cwd,
        env: { PATH: process.env['PATH'] ?? '', SVC_SANDBOX: 'process', TMPDIR },
        stdio: 'ignore',
      })
      const exited = once(child, 'exit')
      const exists = (name: string) =>
        readdirSync(TMPDIR, { recursive: true, encoding: 'utf8' }).some((path) => path.endsWith(name))
      await expect.poll(() => exists('svc.db')).toBe(true)
      child.kill(signal)
      expect(await exited).toEqual([130, null])
      expect(readdirSync(TMPDIR).filter((name) => name.startsWith('svc-rehearsal-'))).toEqual([])
    },
  )

  test.each(readdirSync(EXAMPLES))('every rehearsal of the example wedge %s passes', async (name) => {
    const env = { SVC_SANDBOX: 'process', SVC_WEDGES_DIR: EXAMPLES }
    const { lines } = await runSvc(['wedge', 'rehearse', name, '--json'], { env })
    expect(lines.filter(({ passed }) => !passed)).toEqual([])
    expect(lines.length).toBeGreaterThan(2)
  })

  test('wedge check finds no errors in the example wedges', async () => {
    expect(await callSvc(['wedge', 'check', EXAMPLES])).toMatchObject({ code: 0, stdout: '' })
  })
})

describe('svc wedge check', () => {
  let dir = ''
  let good = ''
  beforeEach(async () => {
    const cwd = temporaryFolder()
    dir = join(cwd, 'wedges/desk')
    await callSvc(['wedge', 'new', 'desk'], { cwd })
    good = readFileSync(join(dir, 'wedge.json'), 'utf8')
  })

  /** The number of the line that contains a text, counted from 1. */
  const lineOf = (file: string, text: string) =>
    readFileSync(join(dir, file), 'utf8')
      .split('\n')
      .findIndex((line) => line.includes(text)) + 1
  const replace = (from: string, to: string) => writeFileSync(join(dir, 'wedge.json'), good.replace(from, to))

  async function errors(): Promise<[string, number, string][]> {
    const { code, lines } = await callSvc(['wedge', 'check', dir, '--json'], { cwd: dir })
    const found = lines.filter(({ level }) => level === 'error')
    expect(code).toBe(found.length > 0 ? 1 : 0)
    return found.map(({ file, line, message }) => [file, line, message])
  }

  const mistakes: [string, string, string, string][] = [
    [
      'an unknown key',
      '"harness": {',
      '"harnes": {',
      "unknown key 'task_types.answer.harnes' (did you mean 'harness'?)",
    ],
    ['a value of the wrong type', '"steps": 8', '"steps": "8"', 'task_types.answer.harness.steps must be a number'],
    [
      'a missing skill',
      '"answering"',
      '"answreing"',
      'skills/answreing.md does not exist, or is a link to a file outside the folder',
    ],
    [
      'missing knowledge',
      '"company.md"',
      '"firm.md"',
      'knowledge/firm.md does not exist, or is a link to a file outside the folder',
    ],
    [
      'a missing workflow',
      '"name": "sort_message"',
      '"name": "sort_mail"',
      'workflows/sort_mail.mjs does not exist, or is a link to a file outside the folder',
    ],
    [
      'a wrong schema',
      '"type": "object"',
      '"type": "objekt"',
      'task_types.answer.input_schema.type must be one of object, array, string, number, integer, boolean, null',
    ],
    ['another name', '"wedge": "desk"', '"wedge": "deck"', "field 'wedge' is 'deck', but the folder is 'desk'"],
    [
      'a workflow without code',
      '"shape": "agent"',
      '"shape": "workflow"',
      "task type 'answer' has the shape workflow, but there is no workflow 'answer'",
    ],
    [
      'a lifetime above the limit',
      '"ttl_s": 86400',
      '"ttl_s": 2592001',
      'approvals.0.ttl_s is 2592001, but SVC_APPROVAL_TTL_MAX_S is 2592000',
    ],
    [
      'a lifetime that is no whole number',
      '"ttl_s": 86400',
      '"ttl_s": 0.5',
      'approvals.0.ttl_s must be a whole number',
    ],
    ['a duplicate key', '"title": "Desk"', '"wedge": "desk"', 'duplicate key "wedge"'],
  ]

  test.each(mistakes)('wedge check reports %s with its line', async (_, from, to, message) => {
    replace(from, to)
    const found = await errors()
    const line = message.startsWith('duplicate')
      ? 3
      : message.startsWith('task type ')
        ? lineOf('wedge.json', '"answer": {')
        : lineOf('wedge.json', to)
    expect(found).toContainEqual(['wedge.json', line, message])
  })

  test('wedge check reports all errors of a manifest at once, each with its line', async () => {
    const wrong = {
      wedge: 'desk',
      title: 5,
      skills: ['Answering!', 'answreing'],
      tools: ['files', 'hammer'],
      connections: [1, 'crm'],
      approvals: [{ action: '', risk: 'huge' }, 'send'],
      policy: {
        auto_approve: [
          { action: 'a', max_per_dy: 1 },
          { max_per_task: 0.5 },
          { action: 'send*' },
          { action: 'send_it' },
        ],
      },
      task_types: {
        answer: { harness: { steps: 0, shape: 'agnet', skills: ['gone'] }, output_schema: 'text' },
        'No Slug': {},
      },
      cases: { stages: ['new'], initial: 'old' },
      workflows: [{ description: 'nameless' }, { name: 'sort_message' }, { name: 'sort_message' }],
    }
    writeFileSync(join(dir, 'wedge.json'), JSON.stringify(wrong, null, 1))
    writeFileSync(join(dir, 'workflows/sort_message.mjs'), 'export default function (\n')
    const found = await errors()
    const missing = 'does not exist, or is a link to a file outside the folder'
    const manifest: [string, string][] = [
      ['"title"', 'title must be a string'],
      ['"Answering!"', 'skills.0 must be a slug: a-z, 0-9, _ and -'],
      ['"answreing"', `skills/answreing.md ${missing}`],
      ['"hammer"', 'tools.1 must be one of files, shell'],
      ['"connections"', 'connections.0 must be a name, or an object with name and tools'],
      ['"action": ""', 'approvals.0.action must not be empty'],
      ['"huge"', 'approvals.0.risk must be one of low, medium, high'],
      ['"send"', 'approvals.1 must be an object'],
      ['"max_per_dy"', "unknown key 'policy.auto_approve.0.max_per_dy' (did you mean 'max_per_day'?)"],
      ['"max_per_task"', 'policy.auto_approve.1.action is required'],
      ['"max_per_task"', 'policy.auto_approve.1.max_per_task must be a whole number'],
      ['"send_it"', 'policy rule 4 never applies: rule 3 already matches the same actions'],
      ['"steps"', 'task_types.answer.harness.steps must be greater than 0'],
      ['"agnet"', 'task_types.answer.harness.shape must be one of agent, decide, workflow'],
      ['"gone"', `skills/gone.md ${missing}`],
      ['"output_schema"', 'task_types.answer.output_schema must be an object'],
      ['"No Slug"', 'task_types.No Slug must be a slug: a-z, 0-9, _ and -'],
      ['"cases"', 'cases initial must be one of the stages'],
      ['"nameless"', 'workflows.0.name is required'],
      ['"sort_message"', "workflow 'sort_message' is declared twice"],
    ]
    expect(found.map(([, , message]) => message)).toEqual(
      expect.arrayContaining(manifest.map(([, message]) => message)),
    )
    for (const [text, message] of manifest) {
      const line = found.find(([, , text]) => text === message)?.[1] ?? 0
      expect(Math.abs(line - lineOf('wedge.json', text)), message).toBeLessThanOrEqual(
        message.includes('twice') ? 3 : 1,
      )
    }
    expect(found).toHaveLength(manifest.length + 1)
    expect(found.at(-1)).toEqual(['workflows/sort_message.mjs', 2, expect.stringContaining('SyntaxError')])
  })

  test('wedge check does not report a name as missing that may be among the invalid values', async () => {
    writeFileSync(
      join(dir, 'wedge.json'),
      JSON.stringify({
        wedge: 'desk',
        connections: 'crm',
        task_types: { answer: [] },
        workflows: { name: 'publish_reply' },
      }),
    )
    writeFiles(dir, {
      'rehearsals/answer.json': [{ call: { tool: 'read', input: { connection: 'crm' } } }, { output: 1 }],
    })
    expect(await errors()).toEqual([
      ['wedge.json', 1, 'task_types.answer must be an object'],
      ['wedge.json', 1, 'connections must be a list'],
      ['wedge.json', 1, 'workflows must be a list'],
    ])
  })

  test('wedge check reports a policy rule that never applies', async () => {
    replace('"auto_approve": []', '"auto_approve": [\n{ "action": "publish*" },\n{ "action": "publish_reply" }\n]')
    const line = lineOf('wedge.json', '{ "action": "publish_reply" }')
    expect(await errors()).toEqual([
      ['wedge.json', line, 'policy rule 2 never applies: rule 1 already matches the same actions'],
    ])
  })

  test('wedge check reports the line of a JSON syntax error', async () => {
    replace('"title": "Desk",', '"title": "Desk"')
    expect(await errors()).toEqual([
      ['wedge.json', lineOf('wedge.json', '"title"') + 1, "malformed json: expected ',' or '}'"],
    ])
  })

  test('wedge check reports errors in rehearsals and workflows', async () => {
    const rehearsal = join(dir, 'rehearsals/answer.json')
    writeFileSync(
      rehearsal,
      readFileSync(rehearsal, 'utf8')
        .replace('"publish_reply"', '"send_it"')
        .replace('{{last.reply}}', '{{lats.reply}}'),
    )
    writeFileSync(join(dir, 'workflows/sort_message.mjs'), '// sorts\nexport default function (\n')
    writeFileSync(join(dir, 'workflows/publish_reply.mjs'), 'export const send = 1\n')
    writeFiles(dir, { 'rehearsals/nosuch.json': [{ output: 1 }] })
    expect(await errors()).toEqual(
      [
        [
          'rehearsals/answer.json',
          lineOf('rehearsals/answer.json', '"output"') - 1,
          "turn 3: placeholder 'lats.reply' must begin with input or last",
        ],
        [
          'rehearsals/answer.json',
          lineOf('rehearsals/answer.json', '"send_it"') - 3,
          "turn 2: unknown workflow 'send_it'",
        ],
        ['rehearsals/nosuch.json', 1, "'nosuch' is not a task type of this wedge"],
        ['workflows/publish_reply.mjs', 1, 'has no default export (expected `export default function`)'],
        ['workflows/sort_message.mjs', expect.any(Number), expect.stringContaining('SyntaxError')],
      ].toSorted((a, b) => String(a[0]).localeCompare(String(b[0])) || Number(a[1]) - Number(b[1])),
    )
  })

  test('wedge check names imports that workflows cannot use, also in imported files', async () => {
    writeFiles(dir, {
      'workflows/sort_message.mjs': [
        "// import fs from 'node:fs' is not possible",
        "import { createHash } from 'node:crypto'",
        "import { a } from './lib/a.mjs'",
        "import './absent.mjs'",
        "export default async () => [createHash, a, await import('left-pad'), 'import text']",
      ].join('\n'),
      'workflows/lib/a.mjs': "export { b as a } from './b.mjs'\nexport const text = 'node:fs'",
      'workflows/lib/b.mjs':
        "import {\n  readFileSync,\n} from 'node:fs'\nimport '../sort_message.mjs'\nexport const b = 1",
    })
    expect(await errors()).toEqual([
      ['workflows/lib/b.mjs', 3, expect.stringContaining("imports 'node:fs', which workflows cannot use (expected ")],
      ['workflows/sort_message.mjs', 4, expect.stringContaining("imports './absent.mjs', which does not exist")],
      ['workflows/sort_message.mjs', 5, expect.stringContaining("imports 'left-pad', which workflows cannot use")],
    ])
  })

  test('wedge check warns about a missing rehearsal and an unsupported schema keyword', async () => {
    rmSync(join(dir, 'rehearsals'), { recursive: true })
    replace('"type": "string",', '"type": "string", "pattern": "^q",')
    const { code, stdout } = await callSvc(['wedge', 'check'], { cwd: dir })
    expect(code).toBe(0)
    expect(stdout).toContain("warning: task type 'answer' has no rehearsals/answer.json")
    expect(stdout).toMatch(
      /^wedge\.json:\d+: warning: task_types\.answer\.output_schema\.properties\.topic\.pattern is not checked/m,
    )
  })
})
