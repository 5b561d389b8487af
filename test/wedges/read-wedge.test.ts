import { link, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readWedge } from '../../src/wedges/read-wedge.ts'
import {
  authoredKnowledgeForTaskType,
  instructionsForTaskType,
  requireTaskType,
  skillsForTaskType,
} from '../../src/wedges/task-type.ts'
import { tempFolder, type WedgeFiles, minimalManifest, writeWedgeFiles } from './wedge-folder.ts'

async function reading(files: WedgeFiles, slug = 'desk') {
  const root = await tempFolder()
  await writeWedgeFiles(root, slug, files)
  return readWedge(root, slug)
}

describe('a folder that holds a wedge', () => {
  test('is read with every skill and every knowledge file when the manifest names none', async () => {
    const { wedge, problems } = await reading({
      'wedge.json': minimalManifest('desk', { title: 'The desk', anything: 'else' }),
      'skills/b.md': 'how b',
      'skills/a.md': 'how a',
      'skills/notes.txt': 'not a skill',
      'knowledge/prices.csv': 'a,1',
      'knowledge/terms.md': 'thirty days',
      'knowledge/.DS_Store': 'hidden',
      'rehearsals/triage.json': [{ output: {} }],
    })
    expect(problems).toEqual([])
    expect(wedge).toMatchObject({ slug: 'desk', title: 'The desk', source: { anything: 'else' } })
    expect(wedge?.skills).toEqual([
      { name: 'a', content: 'how a' },
      { name: 'b', content: 'how b' },
    ])
    expect(wedge?.knowledge.map(({ name }) => name)).toEqual(['prices.csv', 'terms.md'])
    expect(wedge?.rehearsals).toEqual({ triage: [{ output: {} }] })
    expect(wedge?.manifest.task_types.triage?.harness).toMatchObject({ shape: 'agent', steps: 20 })
  })

  test('is read with what the manifest names, in its order', async () => {
    const { wedge } = await reading({
      'wedge.json': minimalManifest('desk', { skills: ['b', 'a'], knowledge: ['terms.md'] }),
      'skills/a.md': '',
      'skills/b.md': '',
      'skills/c.md': '',
      'knowledge/terms.md': '',
      'knowledge/more.md': '',
    })
    expect(wedge?.skills.map(({ name }) => name)).toEqual(['b', 'a'])
    expect(wedge?.knowledge.map(({ name }) => name)).toEqual(['terms.md'])
  })

  test('gives a task type its own skills and instructions', async () => {
    const { wedge } = await reading({
      'wedge.json': {
        wedge: 'desk',
        skills: ['a'],
        knowledge: ['terms.md', 'tone.md'],
        task_types: {
          plain: {},
          special: { harness: { skills: ['b'], instructions: ['knowledge/tone.md', 'rules.md'] } },
        },
      },
      'skills/a.md': '',
      'skills/b.md': '',
      'knowledge/terms.md': '',
      'knowledge/tone.md': '',
      'knowledge/rules.md': '',
    })
    if (!wedge) throw new Error('not read')
    const names = (texts: { name: string }[]) => texts.map(({ name }) => name)
    const plain = requireTaskType(wedge, 'plain')
    const special = requireTaskType(wedge, 'special')
    expect(names(skillsForTaskType(wedge, plain))).toEqual(['a'])
    expect(names(skillsForTaskType(wedge, special))).toEqual(['b'])
    expect(names(authoredKnowledgeForTaskType(wedge, plain))).toEqual(['terms.md', 'tone.md'])
    expect(names(authoredKnowledgeForTaskType(wedge, special))).toEqual(['terms.md'])
    expect(names(instructionsForTaskType(wedge, special))).toEqual(['tone.md', 'rules.md'])
    expect(() => requireTaskType(wedge, 'constructor')).toThrow("unknown task type 'constructor'")
  })

  test('may begin its files with a byte order mark', async () => {
    const bom = String.fromCharCode(0xfeff)
    const { wedge } = await reading({
      'wedge.json': bom + JSON.stringify(minimalManifest('desk')),
      'skills/a.md': `${bom}how`,
    })
    expect(wedge?.skills).toEqual([{ name: 'a', content: 'how' }])
  })

  test('is used without the rehearsals that are broken, and they are told', async () => {
    const { wedge, problems } = await reading({
      'wedge.json': minimalManifest('desk'),
      'rehearsals/triage.json': '[{',
      'rehearsals/other.json': [],
    })
    expect(wedge?.rehearsals).toEqual({})
    expect(problems).toEqual([
      'rehearsals/other.json belongs to no task type',
      expect.stringMatching(/^rehearsals\/triage.json: malformed json: ./),
    ])
  })
})

describe('a folder that cannot be used is told by file and fault:', () => {
  const declared = { workflows: [{ name: 'w' }] }
  const codeFiles = (count: number, source: string) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`workflows/lib/part${n}.mjs`, source]))
  const workflow = { task_types: { plan: { harness: { shape: 'workflow' } } } }
  const instructions = { task_types: { t: { harness: { instructions: ['knowledge/../wedge.json'] } } } }
  const intake = [
    { id: 'a', question: 'why?' },
    { id: 'a', question: 'who?' },
  ]
  test.each<[string, WedgeFiles, RegExp]>([
    ['a manifest that is no JSON', { 'wedge.json': '{"wedge": ' }, /^wedge.json: malformed json: .+/],
    ['a manifest that is a list', { 'wedge.json': [] }, /^wedge.json must be an object$/],
    ['no task types', { 'wedge.json': { wedge: 'desk' } }, /^wedge.json: task_types is required$/],
    ['an empty set of task types', { 'wedge.json': { wedge: 'desk', task_types: {} } }, /at least one task type/],
    ['a wrong type', { 'wedge.json': minimalManifest('desk', { skills: 'a' }) }, /^wedge.json: skills must be a list$/],
    ['another name', { 'wedge.json': minimalManifest('other') }, /wedge is 'other' but the folder is called 'desk'$/],
    ['a missing skill', { 'wedge.json': minimalManifest('desk', { skills: ['a'] }) }, /^skills\/a.md is missing$/],
    [
      'missing knowledge',
      { 'wedge.json': minimalManifest('desk', { knowledge: ['a.md'] }) },
      /^knowledge\/a.md is missing$/,
    ],
    [
      'knowledge elsewhere',
      { 'wedge.json': minimalManifest('desk', { knowledge: ['../wedge.json'] }) },
      /not the name of/,
    ],
    ['instructions elsewhere', { 'wedge.json': minimalManifest('desk', instructions) }, /not the name of/],
    ['an undeclared workflow', { 'wedge.json': minimalManifest('desk', workflow) }, /workflows declares no 'plan'$/],
    ['a missing workflow', { 'wedge.json': minimalManifest('desk', declared) }, /^workflows\/w.mjs is m/],
    [
      'a workflow too large',
      { 'wedge.json': minimalManifest('desk', declared), 'workflows/w.mjs': 'x'.repeat(1048577) },
      /^workflows\/w.mjs has more than 1048576 bytes$/,
    ],
    [
      'too many workflow files',
      { 'wedge.json': minimalManifest('desk', declared), 'workflows/w.mjs': '', ...codeFiles(256, '') },
      /^workflows holds more than 256 files$/,
    ],
    [
      'too much code in all',
      { 'wedge.json': minimalManifest('desk', declared), 'workflows/w.mjs': '', ...codeFiles(9, 'x'.repeat(1048576)) },
      /more than 8388608 bytes in all$/,
    ],
    [
      'an intake id twice',
      { 'wedge.json': minimalManifest('desk', { intake }) },
      /^wedge.json: intake has the id 'a' twice$/,
    ],
    [
      'a limit of a rule that is misspelt',
      { 'wedge.json': minimalManifest('desk', { policy: { auto_approve: [{ action: 'send', max_amount: 5 }] } }) },
      /^wedge.json: policy.auto_approve.0 .*"max_amount"/,
    ],
    [
      'a huge file',
      { 'wedge.json': minimalManifest('desk'), 'knowledge/a.md': 'x'.repeat(1048577) },
      /a.md has more than/,
    ],
    [
      'an initial stage unknown',
      { 'wedge.json': minimalManifest('desk', { cases: { stages: ['a'], initial: 'b' } }) },
      /cases/,
    ],
  ])('%s', async (_, files, problem) => {
    const { wedge, problems } = await reading(files)
    expect(wedge).toBeNull()
    expect(problems).toEqual([expect.stringMatching(problem)])
  })

  test('a folder name that is no slug', async () => {
    const { wedge, problems } = await reading({ 'wedge.json': minimalManifest('My Desk') }, 'My Desk')
    expect(wedge).toBeNull()
    expect(problems[0]).toContain('must be a slug')
  })

  test('knowledge that is not text', async () => {
    const root = await tempFolder()
    await writeWedgeFiles(root, 'desk', { 'wedge.json': minimalManifest('desk'), 'knowledge/a.md': '' })
    await writeFile(join(root, 'desk/knowledge/logo.png'), Buffer.from([0x89, 0x50, 0xff, 0xfe]))
    expect((await readWedge(root, 'desk')).problems).toEqual(['knowledge/logo.png is not text in utf-8'])
  })

  test('links that lead out of the folder, of a file, of a part and of the whole', async () => {
    const outside = await tempFolder()
    await writeWedgeFiles(outside, 'stolen', { 'wedge.json': minimalManifest('stolen'), 'secret.md': 'secret' })
    const root = await tempFolder()
    await writeWedgeFiles(root, 'file', { 'wedge.json': minimalManifest('file') })
    await mkdir(join(root, 'file/knowledge'))
    await symlink(join(outside, 'stolen/secret.md'), join(root, 'file/knowledge/secret.md'))
    await writeWedgeFiles(root, 'part', { 'wedge.json': minimalManifest('part') })
    await symlink(join(outside, 'stolen'), join(root, 'part/knowledge'))
    await symlink(join(outside, 'stolen'), join(root, 'stolen'))
    for (const slug of ['file', 'part', 'stolen']) {
      const { wedge, problems } = await readWedge(root, slug)
      expect(wedge).toBeNull()
      expect(problems).toEqual([expect.stringContaining('is a link that leads out')])
    }
  })

  test('a workflow that imports from beyond the folder through a link', async () => {
    const outside = await tempFolder()
    await writeWedgeFiles(outside, 'stolen', { 'secret.mjs': 'export default 1' })
    const root = await tempFolder()
    const declared = { workflows: [{ name: 'main' }] }
    await writeWedgeFiles(root, 'desk', { 'wedge.json': minimalManifest('desk', declared), 'workflows/main.mjs': '' })
    await symlink(join(outside, 'stolen/secret.mjs'), join(root, 'desk/workflows/linked.mjs'))
    expect((await readWedge(root, 'desk')).problems).toEqual([
      'workflows/linked.mjs is a link that leads out of the folder, or to nothing',
    ])
  })

  test('a link within the folder is followed', async () => {
    const root = await tempFolder()
    await writeWedgeFiles(root, 'desk', { 'wedge.json': minimalManifest('desk'), 'knowledge/a.md': 'true' })
    await symlink('a.md', join(root, 'desk/knowledge/b.md'))
    await link(join(root, 'desk/knowledge/a.md'), join(root, 'desk/knowledge/c.md'))
    const { wedge } = await readWedge(root, 'desk')
    expect(wedge?.knowledge.map(({ content }) => content)).toEqual(['true', 'true', 'true'])
  })
})
