import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { checkWedge } from '../../../src/programs/cli/wedge/check-wedge.ts'
import { readWedge } from '../../../src/wedges/library/read-wedge.ts'
import { writeFiles } from '../../app.ts'

let root = ''
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'svc-skills-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
})

const GOOD =
  '---\nname: refund-rules\ndescription: Which refunds are allowed.\n---\n\n# Rules\n\nSee [prices](references/prices.md).\n'

/** Writes a wedge with these files and the manifest, and reads it as the service and as `svc wedge check` do. */
async function readFiles(files: Record<string, string>, manifest: object = {}) {
  writeFiles(root, {
    'desk/wedge.json': { wedge: 'desk', task_types: { own: {} }, ...manifest },
    'desk/rehearsals/own.json': [{ output: 1 }],
    ...Object.fromEntries(Object.entries(files).map(([path, text]) => [`desk/skills/${path}`, text])),
  })
  return readDesk()
}

async function readDesk() {
  const { wedge, problems } = await readWedge(root, 'desk')
  const findings = await checkWedge({ PATH: '' }, join(root, 'desk'))
  return { wedge, service: problems, check: findings.map(({ file, line, message }) => ({ file, line, message })) }
}

test('a folder with a SKILL.md is a skill with a description, instructions and files', async () => {
  const { wedge, service, check } = await readFiles({
    'refund-rules/SKILL.md': GOOD,
    'refund-rules/references/prices.md': 'Tea costs 3.',
    'refund-rules/scripts/sum.sh': 'echo 3',
    'refund-rules/.hidden': 'no part of it',
    'refund-rules/node_modules/a/index.js': 'no part of it',
    'tone.md': 'Be kind.',
  })
  expect([...service, ...check]).toEqual([])
  expect(wedge?.skills).toEqual([{ name: 'tone', content: 'Be kind.' }])
  expect(wedge?.skillFolders).toEqual([
    {
      name: 'refund-rules',
      description: 'Which refunds are allowed.',
      content: '# Rules\n\nSee [prices](references/prices.md).',
      files: [
        { path: 'SKILL.md', bytes: Buffer.from(GOOD), isExecutable: false },
        { path: 'references/prices.md', bytes: Buffer.from('Tea costs 3.'), isExecutable: false },
        { path: 'scripts/sum.sh', bytes: Buffer.from('echo 3'), isExecutable: false },
      ],
    },
  ])
  chmodSync(join(root, 'desk/skills/refund-rules/scripts/sum.sh'), 0o755)
  expect((await readDesk()).wedge?.skillFolders[0]?.files[2]?.isExecutable).toBe(true)
})

test('the front matter is YAML: folded texts, quotes, Windows line ends, a byte order mark and other fields are accepted', async () => {
  const text = [
    '\uFEFF---',
    'name: "refund-rules"',
    'description: >-',
    '  Which refunds',
    '  are allowed: all.',
    'license: MIT',
    'metadata:',
    '  author: someone',
    'allowed-tools: [Read]',
    '---',
    'Body',
    '--- not the end',
  ].join('\r\n')
  const { wedge, service, check } = await readFiles({ 'refund-rules/SKILL.md': text }, { skills: ['refund-rules'] })
  expect([...service, ...check]).toEqual([])
  expect(wedge?.skillFolders).toMatchObject([
    { description: 'Which refunds are allowed: all.', content: 'Body\r\n--- not the end' },
  ])
})

const FILE = 'skills/refund-rules/SKILL.md'
const NO_FRONT_MATTER = `${FILE} must begin with front matter: a line ---, its name and description, and a line ---`

test.each<[string, string, { line?: number; message: string }[]]>([
  ['no front matter', '# Rules', [{ message: NO_FRONT_MATTER }]],
  ['front matter without an end', '---\nname: refund-rules\n', [{ message: NO_FRONT_MATTER }]],
  [
    'front matter that is a list',
    '---\n- a\n---\n',
    [{ message: `${FILE} must have the fields name and description in its front matter` }],
  ],
  [
    'front matter that is not YAML',
    '---\ndescription: x\nname: [\n---\n',
    [
      {
        line: 3,
        message: expect.stringMatching(
          /^skills\/refund-rules\/SKILL.md has front matter that is not YAML: [^:]+[^:\d]$/,
        ) as string,
      },
    ],
  ],
  [
    'no name and no description',
    '---\nlicense: MIT\n---\n',
    [{ message: "field 'name' is missing" }, { message: "field 'description' is missing" }],
  ],
  [
    'another name than the folder',
    '---\ndescription: x\nname: Refunds\n---\n',
    [{ line: 3, message: "field 'name' must be 'refund-rules', the name of the folder" }],
  ],
  [
    'an empty description',
    '---\nname: refund-rules\ndescription: " "\n---\n',
    [{ line: 3, message: "field 'description' must be a text that says what the skill is for" }],
  ],
  [
    'a description that is too long',
    `---\nname: refund-rules\ndescription: ${'x'.repeat(1025)}\n---\n`,
    [{ line: 3, message: "field 'description' has 1,025 characters; at most 1,024 are allowed" }],
  ],
  [
    'bytes that are no text',
    '---\nname: refund-rules\ndescription: x\n---\n\0',
    [{ message: `${FILE} is not UTF-8 text` }],
  ],
])('a SKILL.md with %s makes the wedge unusable, and the sentence says why', async (_, text, expected) => {
  const { wedge, service, check } = await readFiles({ 'refund-rules/SKILL.md': text })
  const problems = expected.map(({ line = 1, message }) => ({ file: FILE, line, message }))
  expect(wedge).toBe(null)
  expect(service).toEqual(problems)
  expect(check).toEqual(problems)
})

test.each(['Refund-Rules', '-refunds', 'refunds-', 'refund--rules', 'refund_rules', 'x'.repeat(65)])(
  'a skill cannot have the name %s',
  async (name) => {
    const { wedge, service } = await readFiles({ [`${name}/SKILL.md`]: GOOD })
    expect(wedge).toBe(null)
    const message = `skills/${name} must have a name of at most 64 letters a-z, digits and single hyphens, such as refund-rules`
    expect(service).toEqual([{ file: `skills/${name}`, line: 1, message }])
  },
)

test('a link in a skill is refused, whatever it leads to', async () => {
  const refused = 'is a link or a special file; a skill may contain only files'
  await readFiles({ 'refund-rules/SKILL.md': GOOD, 'refund-rules/references/prices.md': '' })
  for (const [target, path] of [
    ['/etc/passwd', 'passwd.md'],
    ['SKILL.md', 'same.md'],
    ['../../..', 'references/up'],
  ] as const) {
    const link = join(root, 'desk/skills/refund-rules', path)
    symlinkSync(target, link)
    const file = `skills/refund-rules/${path}`
    const problem = { file, line: 1, message: `${file} ${refused}` }
    expect(await readDesk()).toEqual({ wedge: null, service: [problem], check: [problem] })
    rmSync(link)
  }
})

test('a skill cannot be a link to a folder', async () => {
  await readFiles({ 'refund-rules/SKILL.md': GOOD, 'refund-rules/references/prices.md': '' })
  symlinkSync('refund-rules', join(root, 'desk/skills/linked'))
  const message = 'skills/linked is a link; copy the folder to this place instead'
  expect((await readDesk()).service).toEqual([{ file: 'skills/linked', line: 1, message }])
})

test('a skill has at most 200 files, 1 MiB in one file, 8 MiB in all and eight levels of folders', async () => {
  const { service: none } = await readFiles({ 'refund-rules/SKILL.md': GOOD })
  expect(none).toEqual([])
  const folder = join(root, 'desk/skills/refund-rules')
  const sentences = async () => (await readDesk()).service.map(({ message }) => message)
  const write = (path: string, bytes: number) => writeFileSync(join(folder, path), Buffer.alloc(bytes, 'a'))

  write('large.md', 1024 * 1024 + 1)
  expect(await sentences()).toEqual(['skills/refund-rules/large.md has more than 1 MiB'])
  write('large.md', 1024 * 1024)
  expect(await sentences()).toEqual([])
  for (let n = 0; n < 7; n++) write(`large${n}.md`, 1024 * 1024)
  expect(await sentences()).toEqual(['skills/refund-rules has files of more than 8 MiB in total'])
  for (let n = 0; n < 200; n++) write(`large${n}.md`, 1)
  expect(await sentences()).toEqual(['skills/refund-rules has more than 200 files'])
  mkdirSync(join(folder, 'a/b/c/d/e/f/g/h'), { recursive: true })
  expect((await sentences())[0]).toContain('200 files')
  for (let n = 0; n < 200; n++) rmSync(join(folder, `large${n}.md`))
  expect(await sentences()).toEqual(['skills/refund-rules/a/b/c/d/e/f/g/h is more than 8 folders deep'])
})

test('a file and a folder cannot be the same skill, and a folder without SKILL.md is left out and reported', async () => {
  const both = await readFiles({ 'refund-rules/SKILL.md': GOOD, 'refund-rules.md': 'Rules' })
  const message = 'skills/refund-rules has the same name as skills/refund-rules.md; remove one of them'
  expect(both.service).toEqual([{ file: 'skills/refund-rules', line: 1, message }])
  rmSync(join(root, 'desk/skills'), { recursive: true })
  const { wedge, service, check } = await readFiles({ 'drafts/skill.md': GOOD, 'tone.md': 'Be kind.' })
  const left = { file: 'skills/drafts', line: 1, message: 'skills/drafts has no file SKILL.md, so it is not used' }
  expect([wedge?.skills, wedge?.skillFolders, service, check]).toEqual([
    [{ name: 'tone', content: 'Be kind.' }],
    [],
    [left],
    [left],
  ])
  const named = await readFiles({}, { skills: ['drafts'] })
  expect([named.wedge, named.service]).toEqual([
    null,
    [{ file: 'skills/drafts', line: 1, message: 'skills/drafts has no file SKILL.md' }],
  ])
})

test('svc wedge check warns of links to files that the skill does not contain', async () => {
  const links = '[a](references/gone.md) [b](../tone.md) [c](https://example.com) [d](#top) [e](./SKILL.md#rules)'
  const { service, check } = await readFiles({
    'refund-rules/SKILL.md': `---\nname: refund-rules\ndescription: x\n---\n${links}`,
    'tone.md': 'Be kind.',
  })
  expect(service).toEqual([])
  expect(check.map(({ message }) => message)).toEqual([
    'SKILL.md links to references/gone.md, which the skill does not contain',
    'SKILL.md links to ../tone.md, which is outside of the skill',
  ])
})
