import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { sharedApp, testApp } from '../../app.ts'
import { fakeProvider, providerStreams } from '../models/fake-provider.ts'
import { eventually, runScript, scriptedAgentFolder } from './scripted-agent.ts'

const SKILL = '---\nname: refund-rules\ndescription: Which refunds\n  are allowed.\n---\n# Rules\nRead prices.'
const call = (tool: string, input: object) => ({ call: { tool, input } })

const WEDGES = {
  'desk/wedge.json': {
    wedge: 'desk',
    skills: ['tone', 'refund-rules'],
    tools: ['shell'],
    task_types: {
      reads: {},
      runs: {},
      without: { harness: { skills: ['tone'] } },
      decided: { harness: { shape: 'decide' } },
    },
  },
  'desk/skills/tone.md': 'Be kind.',
  'desk/skills/refund-rules/SKILL.md': SKILL,
  'desk/skills/refund-rules/references/prices.md': `é${'x'.repeat(150_000)}`,
  'desk/skills/refund-rules/assets/logo.bin': '\0\0',
  'desk/skills/refund-rules/scripts/sum.sh': '#!/bin/sh\necho "sum is $(($1 + $2))"\n',
  'desk/rehearsals/reads.json': [
    call('skill_read', { skill: 'refund-rules' }),
    call('skill_read', { skill: 'refund-rules', path: 'references/prices.md' }),
    { output: '{{last.next_offset}}' },
  ],
  'desk/rehearsals/runs.json': [
    call('run_command', { command: '/tmp/in/skills/refund-rules/scripts/sum.sh 1 2' }),
    { output: '{{last.stdout}}' },
  ],
}

describe.each(['bwrap', 'process'])('skills as folders, with the bundled agent (%s)', (sandbox) => {
  const app = sharedApp({ store: 'sqlite', wedges: WEDGES, env: { SVC_SANDBOX: sandbox } })
  beforeAll(async () => {
    chmodSync(join(app().dir, 'wedges/desk/skills/refund-rules/scripts/sum.sh'), 0o755)
    await eventually(() => app().ctx.wedges.get('desk')?.skillFolders[0]?.files[3]?.isExecutable === true)
  })

  test('a run reads the files of a skill one by one, and its log does not repeat them', async () => {
    const { id } = await app().createTask({ wedge: 'desk', task_type: 'reads' })
    expect(await app().finished(id)).toMatchObject({ status: 'succeeded', output: 100_000 })
    const results = (await app().events(id)).map(({ data }) => data).filter(({ type }) => type === 'tool.result')
    expect(results.map(({ data }) => data)).toMatchObject([
      { tool: 'skill_read', ok: true, output: { skill: 'refund-rules', path: 'SKILL.md', size: SKILL.length } },
      { output: { path: 'references/prices.md', size: 150_002 } },
    ])
    expect(JSON.stringify(results)).not.toContain('Read prices')
  })

  test.runIf(sandbox === 'bwrap')('a script of a skill runs in the sandbox', async () => {
    const { id } = await app().createTask({ wedge: 'desk', task_type: 'runs' })
    expect(await app().finished(id)).toMatchObject({ status: 'succeeded', output: 'sum is 3\n' })
  })
})

test('the model knows the description of a skill first, and gets its text when it asks', async () => {
  const calls = [
    { name: 'skill_read', input: { skill: 'refund-rules' } },
    { name: 'finish', input: { output: 1 } },
    { name: 'finish', input: { output: 2 } },
  ]
  const provider = await fakeProvider(
    ...calls.map((one) => ({ chunks: [providerStreams.openai({ text: '', call: one })] })),
  )
  const app = await testApp({
    store: 'sqlite',
    wedges: WEDGES,
    env: { SVC_MODEL: 'openai/gpt-4.1', OPENAI_API_KEY: 'k', OPENAI_BASE_URL: `${provider.url}/v1` },
  })
  for (const task_type of ['reads', 'without'])
    await app.finished((await app.createTask({ wedge: 'desk', task_type })).id)
  const [first = '', second = '', other = ''] = provider.seen.map(({ body }) => JSON.stringify(body))
  expect(first).toContain('- refund-rules: Which refunds are allowed. Its files are in ')
  expect(first).toContain('Be kind.')
  expect(first).not.toContain('Read prices.')
  expect(second).toContain('Read prices.')
  expect(other).not.toMatch(/refund-rules|skill_read/)
})

const agents = scriptedAgentFolder()

describe.each(['bwrap', 'process'])('skills as folders, with a custom agent (%s)', (sandbox) => {
  const app = sharedApp({ store: 'sqlite', wedges: WEDGES, env: { SVC_SANDBOX: sandbox, ...agents } })
  const run = (js: string, task_type = 'reads') => runScript(app(), js, { wedge: 'desk', task_type })

  test('the brief names the folder, which has the files and cannot be changed', async () => {
    const { task } = await run(`
      const fs = require('node:fs')
      const [skill] = brief.skill_folders
      const attempt = (work) => { try { return work() } catch (error) { return error.code } }
      say({ output: {
        skill,
        skills: brief.skills,
        text: fs.readFileSync(skill.path + '/SKILL.md', 'utf8'),
        mode: fs.statSync(skill.path + '/SKILL.md').mode & 0o777,
        changed: attempt(() => fs.appendFileSync(skill.path + '/SKILL.md', 'x')),
      } })`)
    expect(task.output).toMatchObject({
      skill: {
        name: 'refund-rules',
        description: 'Which refunds are allowed.',
        files: ['SKILL.md', 'assets/logo.bin', 'references/prices.md', 'scripts/sum.sh'],
      },
      skills: [{ name: 'tone', content: 'Be kind.' }],
      text: SKILL,
      mode: 0o444,
    })
    if (sandbox === 'bwrap')
      expect(task.output).toMatchObject({
        skill: { path: '/tmp/in/skills/refund-rules' },
        changed: expect.stringMatching(/^(?:EROFS|EACCES)$/),
      })
  })

  test('the sandbox plane serves text files of the skill and nothing else', async () => {
    const { task } = await run(`
      const get = async (path) => { const { status, body } = await ask('GET', '/v1/internal/skills/' + path); return [status, body] }
      const end = await get('refund-rules?path=references/prices.md&offset=100000')
      say({ output: {
        main: await get('refund-rules'),
        end: [end[0], end[1].content.length, end[1].next_offset],
        refused: [
          await get('tone'), await get('refund-rules?path=assets/logo.bin'), await get('refund-rules?offset=-1'),
          await get('refund-rules?path=../tone.md'), await get('..%2Frefund-rules'), await get('refund-rules?path=/etc/passwd'),
          await get('refund-rules?path=references'), await get('__proto__'),
        ],
      } })`)
    const missing = [
      404,
      { error: expect.stringContaining('no such file in this skill; it has SKILL.md, assets/logo.bin') },
    ]
    const noSkill = [404, { error: 'no such skill' }]
    expect(task.output).toEqual({
      main: [200, { skill: 'refund-rules', path: 'SKILL.md', size: SKILL.length, content: SKILL, next_offset: null }],
      end: [200, 50_001, null],
      refused: [
        noSkill,
        [400, { error: 'assets/logo.bin is not text' }],
        [400, { error: expect.stringContaining('offset') }],
        missing,
        noSkill,
        missing,
        missing,
        noSkill,
      ],
    })
  })

  test('a task type without the skill, or without tools, has no folder', async () => {
    const js = `say({ output: [brief.skills.map(({ name }) => name), brief.skill_folders ?? null, (await ask('GET', '/v1/internal/skills/refund-rules')).status] })`
    expect((await run(js, 'without')).task.output).toEqual([['tone'], null, 404])
    expect((await run(js, 'decided')).task.output).toEqual([['tone', 'refund-rules'], null, 200])
  })

  test('a changed file of a skill is in the next run', async () => {
    const path = join(app().dir, 'wedges/desk/skills/refund-rules/references/prices.md')
    writeFileSync(path, 'Tea costs 4.')
    await eventually(() => app().ctx.wedges.get('desk')?.skillFolders[0]?.files[2]?.bytes.length === 12)
    const js = `say({ output: (await ask('GET', '/v1/internal/skills/refund-rules?path=references/prices.md')).body.content })`
    expect((await run(js)).task.output).toBe('Tea costs 4.')
  })
})
