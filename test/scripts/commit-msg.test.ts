import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { IS_MATRIX } from '../matrix.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const HOOK = join(ROOT, 'scripts/commit-msg')

/** What the hook prints about the message; empty when it accepts it. */
function checkMessage(message: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-commit-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'COMMIT_EDITMSG')
  writeFileSync(file, message)
  const { status, stderr } = spawnSync(HOOK, [file], { encoding: 'utf8' })
  expect(status).toBe(stderr === '' ? 0 : 1)
  return stderr
}

test.each([
  'tasks: refuse a second decision',
  'console, portal: say what waits',
  'workflow-cell: stop at the limit\n\nThe body says why.\n',
  `http: ${'é'.repeat(66)}`,
  'tasks: one line\n# a comment of git\n',
  "Merge branch 'main'",
  'Revert "tasks: refuse a second decision"',
  'fixup! tasks: refuse a second decision',
])('the commit message %j is accepted', (message) => {
  expect(checkMessage(message)).toBe('')
})

test.each([
  ['Refuse a second decision', "must be 'area: what changed'"],
  ['Tasks: refuse a second decision', "must be 'area: what changed'"],
  ['tasks:refuse', "must be 'area: what changed'"],
  ['tasks: refuse a second decision.', 'must not end with a dot'],
  [`http: ${'é'.repeat(67)}`, 'has 73 characters, at most 72'],
  ['tasks: refuse a second decision\nThe body.', 'a blank line must separate'],
  ['# only a comment\n', 'must not be empty'],
])('the commit message %j is refused: it %s', (message, problem) => {
  expect(checkMessage(message)).toContain(problem)
})

/** The last commit from before the messages were checked. */
const UNCHECKED = '103c46cb5157'

test('the messages of all commits have this form', ({ skip }) => {
  const git = (...args: string[]) => spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' })
  if (git('cat-file', '-e', UNCHECKED).status !== 0) skip('the history of the project is not here')
  // A change has fewer commits than this.
  const newest = IS_MATRIX ? [] : ['--max-count=60']
  const messages = git('log', '-z', '--no-merges', '--format=%B', ...newest, `${UNCHECKED}..HEAD`)
    .stdout.split('\0')
    .filter(Boolean)
  expect(messages.map(checkMessage).filter((problem) => problem !== '')).toEqual([])
})
