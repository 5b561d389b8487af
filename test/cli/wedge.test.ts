import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeEach, describe, expect, test } from 'vitest'
import { writeFiles } from '../app.ts'
import { PROGRAM, runSvc, temporaryFolder } from './run-svc.ts'

const EXAMPLES = fileURLToPath(new URL('../../wedges', import.meta.url))

describe('svc wedge', () => {
  test('new makes a wedge that has no mistakes and plays at once', async () => {
    const cwd = temporaryFolder()
    const made = await runSvc(['wedge', 'new', 'front-desk', '--json'], { cwd })
    expect(made.lines[0]).toMatchObject({
      wedge: 'front-desk',
      files: expect.arrayContaining(['rehearsals/answer.json']),
    })
    const checked = await runSvc(['wedge', 'check'], { cwd })
    expect(checked).toMatchObject({ code: 0, stdout: '' })
    // A rehearsal is never played on the store of a deployment.
    writeFileSync(join(cwd, 'url'), 'postgres://svc@127.0.0.1:1/svc')
    const env = { SVC_SANDBOX: 'process', DATABASE_URL_FILE: join(cwd, 'url') }
    const played = await runSvc(['wedge', 'rehearse', 'front-desk', '--json'], { cwd, env })
    expect(played.lines).toEqual([expect.objectContaining({ task_type: 'answer', passed: true })])
    expect(played.code).toBe(0)
    expect((await runSvc(['wedge', 'new', 'front-desk'], { cwd })).code).toBe(2)
  })

  test('rehearse fills the record store, gives the connections somewhere to lead to, and tells what failed', async () => {
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
    'rehearse that is ended by %s leaves no service and no folder',
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
      const made = (name: string) =>
        readdirSync(TMPDIR, { recursive: true, encoding: 'utf8' }).some((one) => one.endsWith(name))
      await expect.poll(() => made('svc.db'), { timeout: 30_000 }).toBe(true)
      child.kill(signal)
      expect(await exited).toEqual([130, null])
      expect(readdirSync(TMPDIR).filter((name) => name.startsWith('svc-rehearsal-'))).toEqual([])
    },
  )

  test.each(readdirSync(EXAMPLES))('rehearse plays every rehearsal of the example %s', async (name) => {
    const env = { SVC_SANDBOX: 'process', SVC_WEDGES_DIR: EXAMPLES }
    const { lines } = await runSvc(['wedge', 'rehearse', name, '--json'], { env })
    expect(lines.filter(({ passed }) => !passed)).toEqual([])
    expect(lines.length).toBeGreaterThan(2)
  })

  test('check finds nothing wrong with the examples', async () => {
    expect(await runSvc(['wedge', 'check', EXAMPLES])).toMatchObject({ code: 0, stdout: '' })
  })
})

describe('svc wedge check', () => {
  let dir = ''
  let good = ''
  beforeEach(async () => {
    const cwd = temporaryFolder()
    dir = join(cwd, 'wedges/desk')
    await runSvc(['wedge', 'new', 'desk'], { cwd })
    good = readFileSync(join(dir, 'wedge.json'), 'utf8')
  })

  /** The line, counted from 1, where a text stands. */
  const lineOf = (file: string, text: string) =>
    readFileSync(join(dir, file), 'utf8')
      .split('\n')
      .findIndex((line) => line.includes(text)) + 1
  const replace = (from: string, to: string) => writeFileSync(join(dir, 'wedge.json'), good.replace(from, to))

  async function errors(): Promise<[string, number, string][]> {
    const { code, lines } = await runSvc(['wedge', 'check', dir, '--json'], { cwd: dir })
    const found = lines.filter(({ level }) => level === 'error')
    expect(code).toBe(found.length > 0 ? 1 : 0)
    return found.map(({ file, line, message }) => [file, line, message])
  }

  const planted: [string, string, string, string][] = [
    ['an unknown key', '"harness": {', '"harnes": {', "unknown key 'task_types.answer.harnes': do you mean 'harness'?"],
    ['a value of the wrong kind', '"steps": 8', '"steps": "8"', 'task_types.answer.harness.steps must be a number'],
    [
      'a missing skill',
      '"answering"',
      '"answreing"',
      'skills/answreing.md is missing, or a link that leads out of the folder',
    ],
    [
      'missing knowledge',
      '"company.md"',
      '"firm.md"',
      'knowledge/firm.md is missing, or a link that leads out of the folder',
    ],
    [
      'a missing workflow',
      '"name": "sort_message"',
      '"name": "sort_mail"',
      'workflows/sort_mail.mjs is missing, or a link that leads out of the folder',
    ],
    [
      'a wrong schema',
      '"type": "object"',
      '"type": "objekt"',
      'task_types.answer.output_schema.type must be one of object, array, string, number, integer, boolean, null',
    ],
    ['another name', '"wedge": "desk"', '"wedge": "deck"', "wedge is 'deck' but the folder is called 'desk'"],
    [
      'a workflow without code',
      '"shape": "agent"',
      '"shape": "workflow"',
      "task type 'answer' has the shape workflow, but workflows declares no 'answer'",
    ],
    ['a key that stands twice', '"title": "Desk"', '"wedge": "desk"', 'the key "wedge" stands here again'],
  ]

  test.each(planted)('finds %s in its line', async (_, from, to, message) => {
    replace(from, to)
    const found = await errors()
    const line = message.includes('again')
      ? 3
      : message.startsWith('task type ')
        ? lineOf('wedge.json', '"answer": {')
        : lineOf('wedge.json', to)
    expect(found).toContainEqual(['wedge.json', line, message])
  })

  test('tells everything at once, each in its line and in our words, however wrong the shape is', async () => {
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
    const missing = 'is missing, or a link that leads out of the folder'
    const manifest: [string, string][] = [
      ['"title"', 'title must be a string'],
      ['"Answering!"', 'skills.0 must be a slug: a-z, 0-9, _ and -'],
      ['"answreing"', `skills/answreing.md ${missing}`],
      ['"hammer"', 'tools.1 must be one of files, shell'],
      ['"connections"', 'connections.0 must be a string'],
      ['"action": ""', 'approvals.0.action must have at least 1 characters'],
      ['"huge"', 'approvals.0.risk must be one of low, medium, high'],
      ['"send"', 'approvals.1 must be an object'],
      ['"max_per_dy"', "unknown key 'policy.auto_approve.0.max_per_dy': do you mean 'max_per_day'?"],
      ['"max_per_task"', 'policy.auto_approve.1.action is required'],
      ['"max_per_task"', 'policy.auto_approve.1.max_per_task must be a whole number'],
      ['"send_it"', 'policy rule 4 is never asked: rule 3 matches everything that it matches'],
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
      const line = found.find(([, , said]) => said === message)?.[1] ?? 0
      expect(Math.abs(line - lineOf('wedge.json', text)), message).toBeLessThanOrEqual(
        message.includes('twice') ? 3 : 1,
      )
    }
    expect(found).toHaveLength(manifest.length + 1)
    expect(found.at(-1)).toEqual(['workflows/sort_message.mjs', 2, expect.stringContaining('SyntaxError')])
  })

  test('takes nothing for missing that may have been meant by what is wrong', async () => {
    writeFileSync(
      join(dir, 'wedge.json'),
      JSON.stringify({
        wedge: 'desk',
        connections: 'crm',
        task_types: { answer: [] },
        workflows: { name: 'send_answer' },
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

  test('finds a rule that is never asked', async () => {
    replace('"auto_approve": []', '"auto_approve": [\n{ "action": "send*" },\n{ "action": "send_answer" }\n]')
    const line = lineOf('wedge.json', '{ "action": "send_answer" }')
    expect(await errors()).toEqual([
      ['wedge.json', line, 'policy rule 2 is never asked: rule 1 matches everything that it matches'],
    ])
  })

  test('finds where a manifest stops being JSON', async () => {
    replace('"title": "Desk",', '"title": "Desk"')
    expect(await errors()).toEqual([
      ['wedge.json', lineOf('wedge.json', '"title"') + 1, "malformed json: a ',' or '}' is missing"],
    ])
  })

  test('finds mistakes in rehearsals and workflows', async () => {
    const rehearsal = join(dir, 'rehearsals/answer.json')
    writeFileSync(
      rehearsal,
      readFileSync(rehearsal, 'utf8')
        .replace('"send_answer"', '"send_it"')
        .replace('{{last.answer}}', '{{lats.answer}}'),
    )
    writeFileSync(join(dir, 'workflows/sort_message.mjs'), '// sorts\nexport default function (\n')
    writeFileSync(join(dir, 'workflows/send_answer.mjs'), 'export const send = 1\n')
    writeFiles(dir, { 'rehearsals/nosuch.json': [{ output: 1 }] })
    expect(await errors()).toEqual(
      [
        [
          'rehearsals/answer.json',
          lineOf('rehearsals/answer.json', '"output"') - 1,
          "turn 3: placeholder 'lats.answer' must begin with input or last",
        ],
        [
          'rehearsals/answer.json',
          lineOf('rehearsals/answer.json', '"send_it"') - 3,
          "turn 2: workflows declares no 'send_it'",
        ],
        ['rehearsals/nosuch.json', 1, "'nosuch' is no task type of this wedge"],
        ['workflows/send_answer.mjs', 1, 'has no default export: the service calls `export default function`'],
        ['workflows/sort_message.mjs', expect.any(Number), expect.stringContaining('SyntaxError')],
      ].toSorted((a, b) => String(a[0]).localeCompare(String(b[0])) || Number(a[1]) - Number(b[1])),
    )
  })

  test('warns, without an error, of what cannot be tried or is not checked', async () => {
    rmSync(join(dir, 'rehearsals'), { recursive: true })
    replace('"type": "string",', '"type": "string", "pattern": "^q",')
    const { code, stdout } = await runSvc(['wedge', 'check'], { cwd: dir })
    expect(code).toBe(0)
    expect(stdout).toContain("warning: task type 'answer' has no rehearsals/answer.json")
    expect(stdout).toMatch(
      /^wedge\.json:\d+: warning: task_types\.answer\.output_schema\.properties\.topic\.pattern is not checked/m,
    )
  })
})
