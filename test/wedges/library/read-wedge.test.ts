import { link, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { problemText } from '../../../src/platform/contract/wedge/wedge-manifest.ts'
import { readWedge } from '../../../src/wedges/library/read-wedge.ts'
import {
  authoredKnowledgeForTaskType,
  instructionsForTaskType,
  requireTaskType,
  skillsForTaskType,
} from '../../../src/wedges/library/task-type.ts'
import { minimalManifest, tempFolder, type WedgeFiles, writeWedgeFiles } from './wedge-folder.ts'

async function writeAndRead(files: WedgeFiles, slug = 'support') {
  const root = await tempFolder()
  await writeWedgeFiles(root, slug, files)
  return readWedge(root, slug)
}

describe('reading a wedge', () => {
  test('a wedge has all skill and knowledge files if the manifest lists none', async () => {
    const { wedge, problems } = await writeAndRead({
      'wedge.json': minimalManifest('support', { title: 'Support', anything: 'else' }),
      'skills/b.md': 'how b',
      'skills/a.md': 'how a',
      'skills/notes.txt': 'not a skill',
      'knowledge/prices.csv': 'a,1',
      'knowledge/terms.md': 'thirty days',
      'knowledge/.DS_Store': 'hidden',
      'rehearsals/triage.json': [{ output: {} }],
    })
    expect(problems).toEqual([])
    expect(wedge).toMatchObject({ slug: 'support', title: 'Support', source: { anything: 'else' } })
    expect(wedge?.skills).toEqual([
      { name: 'a', content: 'how a' },
      { name: 'b', content: 'how b' },
    ])
    expect(wedge?.knowledge.map(({ name }) => name)).toEqual(['prices.csv', 'terms.md'])
    expect(wedge?.rehearsals).toEqual({ triage: [{ output: {} }] })
    expect(wedge?.manifest.task_types.triage?.harness).toMatchObject({ shape: 'agent', steps: 20 })
  })

  test('a wedge has the listed skill and knowledge files, in the order of the manifest', async () => {
    const { wedge } = await writeAndRead({
      'wedge.json': minimalManifest('support', { skills: ['b', 'a'], knowledge: ['terms.md'] }),
      'skills/a.md': '',
      'skills/b.md': '',
      'skills/c.md': '',
      'knowledge/terms.md': '',
      'knowledge/more.md': '',
    })
    expect(wedge?.skills.map(({ name }) => name)).toEqual(['b', 'a'])
    expect(wedge?.knowledge.map(({ name }) => name)).toEqual(['terms.md'])
  })

  test.each([
    [{ approvers: 'admins' }, 'approvals.0.approvers must be operator, admin, owner, the id of a member, or the mail'],
    [
      { approvers: { roles: ['admin'] } },
      'approvals.0.approvers must be operator, admin, owner, the id of a member, or the mail address of a member, or client; or a list of 1 to 50 of these',
    ],
    [{ approvers: ['owner', 'viewer'] }, 'approvals.0.approvers.1 must be operator, admin, owner'],
    [{ needed: 2, approvers: 'ada@example.com' }, 'approvals.0.needed must not be more than the number of approvers'],
    [{ needed: 2, approvers: 'client' }, 'approvals.0.needed must not be more than the number of approvers'],
    [
      { escalate: [{ after_s: 60, to: 'client' }] },
      "escalate.0.to must be operator, admin, owner, the id of a member, or the mail address of a member; the client can only be in 'approvers'",
    ],
    [{ escalate: [{ after_s: 60, to: 'boss' }] }, 'approvals.0.escalate.0.to must be operator, admin, owner'],
  ])('a wedge whose approvals nobody could decide is refused: %o', async (people, problem) => {
    const approvals = [{ action: 'pay', ...people }]
    const { wedge, problems } = await writeAndRead({ 'wedge.json': minimalManifest('support', { approvals }) })
    expect(wedge).toBeNull()
    expect(problems.map(problemText).join('\n')).toContain(problem)
  })

  test('a task type can have its own skills and instructions', async () => {
    const { wedge } = await writeAndRead({
      'wedge.json': {
        wedge: 'support',
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

  test('files may start with a byte order mark', async () => {
    const bom = String.fromCharCode(0xfeff)
    const { wedge } = await writeAndRead({
      'wedge.json': bom + JSON.stringify(minimalManifest('support')),
      'skills/a.md': `${bom}how`,
    })
    expect(wedge?.skills).toEqual([{ name: 'a', content: 'how' }])
  })

  test('a wedge with broken rehearsals is loaded without them, and they are reported', async () => {
    const { wedge, problems } = await writeAndRead({
      'wedge.json': minimalManifest('support'),
      'rehearsals/triage.json': '[{',
      'rehearsals/other.json': [],
    })
    expect(wedge?.rehearsals).toEqual({})
    expect(problems.map(problemText)).toEqual([
      'rehearsals/other.json does not match a task type',
      expect.stringMatching(/^rehearsals\/triage.json: malformed json: ./),
    ])
  })
})

describe('a wedge that cannot be loaded reports the file and the problem', () => {
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
    ['a manifest that is not JSON', { 'wedge.json': '{"wedge": ' }, /^wedge.json: malformed json: .+/],
    ['a manifest that is a list', { 'wedge.json': [] }, /^wedge.json must be an object$/],
    ['no task types', { 'wedge.json': { wedge: 'support' } }, /^wedge.json: task_types is required$/],
    ['an empty set of task types', { 'wedge.json': { wedge: 'support', task_types: {} } }, /at least one task type/],
    [
      'a wrong type',
      { 'wedge.json': minimalManifest('support', { skills: 'a' }) },
      /^wedge.json: skills must be a list$/,
    ],
    [
      'a name that differs from the folder',
      { 'wedge.json': minimalManifest('other') },
      /wedge is 'other' but the folder is called 'support'$/,
    ],
    ['a missing skill', { 'wedge.json': minimalManifest('support', { skills: ['a'] }) }, /^skills\/a.md is missing$/],
    [
      'missing knowledge',
      { 'wedge.json': minimalManifest('support', { knowledge: ['a.md'] }) },
      /^knowledge\/a.md is missing$/,
    ],
    [
      'knowledge outside the folder',
      { 'wedge.json': minimalManifest('support', { knowledge: ['../wedge.json'] }) },
      /not the name of/,
    ],
    ['instructions outside the folder', { 'wedge.json': minimalManifest('support', instructions) }, /not the name of/],
    ['an undeclared workflow', { 'wedge.json': minimalManifest('support', workflow) }, /workflows declares no 'plan'$/],
    ['a missing workflow', { 'wedge.json': minimalManifest('support', declared) }, /^workflows\/w.mjs is m/],
    [
      'a workflow file that is too large',
      { 'wedge.json': minimalManifest('support', declared), 'workflows/w.mjs': 'x'.repeat(1048577) },
      /^workflows\/w.mjs has more than 1048576 bytes$/,
    ],
    [
      'too many workflow files',
      { 'wedge.json': minimalManifest('support', declared), 'workflows/w.mjs': '', ...codeFiles(256, '') },
      /^workflows contains more than 256 files$/,
    ],
    [
      'too much workflow code in total',
      {
        'wedge.json': minimalManifest('support', declared),
        'workflows/w.mjs': '',
        ...codeFiles(9, 'x'.repeat(1048576)),
      },
      /more than 8388608 bytes in total$/,
    ],
    [
      'a repeated intake id',
      { 'wedge.json': minimalManifest('support', { intake }) },
      /^wedge.json: intake has the id 'a' twice$/,
    ],
    [
      'a misspelt limit of a policy rule',
      { 'wedge.json': minimalManifest('support', { policy: { auto_approve: [{ action: 'send', max_amount: 5 }] } }) },
      /^wedge.json: policy.auto_approve.0 .*"max_amount"/,
    ],
    [
      'a knowledge file that is too large',
      { 'wedge.json': minimalManifest('support'), 'knowledge/a.md': 'x'.repeat(1048577) },
      /a.md has more than/,
    ],
    [
      'an unknown initial stage',
      { 'wedge.json': minimalManifest('support', { cases: { stages: ['a'], initial: 'b' } }) },
      /cases/,
    ],
  ])('a wedge with %s is not loaded', async (_, files, problem) => {
    const { wedge, problems } = await writeAndRead(files)
    expect(wedge).toBeNull()
    expect(problems.map(problemText)).toEqual([expect.stringMatching(problem)])
  })

  test('every error of a manifest is reported with its line', async () => {
    const invalid =
      '{\n  "wedge": "support",\n  "skills": "a",\n  "task_types": {\n    "triage": { "description": 1 }\n  }\n}'
    expect((await writeAndRead({ 'wedge.json': invalid })).problems).toEqual([
      { file: 'wedge.json', line: 5, message: 'task_types.triage.description must be a string' },
      { file: 'wedge.json', line: 3, message: 'skills must be a list' },
    ])
    const malformed = '{\n  "wedge": "support",\n  "task_types" {}\n}'
    expect((await writeAndRead({ 'wedge.json': malformed })).problems).toEqual([
      { file: 'wedge.json', line: 3, message: expect.stringMatching(/^malformed json: expected ':'/) },
    ])
  })

  test('a wedge with a folder name that is not a slug is not loaded', async () => {
    const { wedge, problems } = await writeAndRead({ 'wedge.json': minimalManifest('My Support') }, 'My Support')
    expect(wedge).toBeNull()
    expect(problems[0]?.message).toContain('must be a slug')
  })

  test('a wedge with a binary knowledge file is not loaded', async () => {
    const root = await tempFolder()
    await writeWedgeFiles(root, 'support', { 'wedge.json': minimalManifest('support'), 'knowledge/a.md': '' })
    await writeFile(join(root, 'support/knowledge/logo.png'), Buffer.from([0x89, 0x50, 0xff, 0xfe]))
    expect((await readWedge(root, 'support')).problems).toEqual([
      { file: 'knowledge/logo.png', line: 1, message: 'knowledge/logo.png is not utf-8 text' },
    ])
  })

  test('a wedge with a link to a file or folder outside is not loaded', async () => {
    const otherRoot = await tempFolder()
    await writeWedgeFiles(otherRoot, 'outside', { 'wedge.json': minimalManifest('outside'), 'secret.md': 'secret' })
    const root = await tempFolder()
    await writeWedgeFiles(root, 'file', { 'wedge.json': minimalManifest('file') })
    await mkdir(join(root, 'file/knowledge'))
    await symlink(join(otherRoot, 'outside/secret.md'), join(root, 'file/knowledge/secret.md'))
    await writeWedgeFiles(root, 'part', { 'wedge.json': minimalManifest('part') })
    await symlink(join(otherRoot, 'outside'), join(root, 'part/knowledge'))
    await symlink(join(otherRoot, 'outside'), join(root, 'outside'))
    for (const slug of ['file', 'part', 'outside']) {
      const { wedge, problems } = await readWedge(root, slug)
      expect(wedge).toBeNull()
      expect(problems.map(problemText)).toEqual([expect.stringContaining('is a link to a target outside')])
    }
  })

  test('a wedge with a link to workflow code outside is not loaded', async () => {
    const otherRoot = await tempFolder()
    await writeWedgeFiles(otherRoot, 'outside', { 'secret.mjs': 'export default 1' })
    const root = await tempFolder()
    const declared = { workflows: [{ name: 'main' }] }
    await writeWedgeFiles(root, 'support', {
      'wedge.json': minimalManifest('support', declared),
      'workflows/main.mjs': '',
    })
    await symlink(join(otherRoot, 'outside/secret.mjs'), join(root, 'support/workflows/linked.mjs'))
    expect((await readWedge(root, 'support')).problems.map(problemText)).toEqual([
      'workflows/linked.mjs is a link to a target outside the folder or to no file',
    ])
  })

  test('a link to a file inside the folder is followed', async () => {
    const root = await tempFolder()
    await writeWedgeFiles(root, 'support', { 'wedge.json': minimalManifest('support'), 'knowledge/a.md': 'true' })
    await symlink('a.md', join(root, 'support/knowledge/b.md'))
    await link(join(root, 'support/knowledge/a.md'), join(root, 'support/knowledge/c.md'))
    const { wedge } = await readWedge(root, 'support')
    expect(wedge?.knowledge.map(({ content }) => content)).toEqual(['true', 'true', 'true'])
  })
})
