import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { programName, quoteForShell } from '../../../src/programs/cli/shell/program-name.ts'
import { callSvc } from './call-svc.ts'
import { runSvc, temporaryFolder } from './run-svc.ts'

const PATH = '/usr/local/bin:/usr/bin'

test.each([
  ['the script of a clone', { SVC_CALLED_AS: './svc' }, '/clone/dist/svc.mjs', './svc'],
  [
    'the script of a clone, from another folder',
    { SVC_CALLED_AS: '../clone/svc' },
    '/clone/dist/svc.mjs',
    '../clone/svc',
  ],
  ['a clone with a space in its path', { SVC_CALLED_AS: '/my clone/svc' }, '/x/dist/svc.mjs', "'/my clone/svc'"],
  ['a link to the script on the PATH', { SVC_CALLED_AS: '/usr/local/bin/svc' }, '/clone/dist/svc.mjs', 'svc'],
  ['a global installation', {}, '/usr/bin/svc', 'svc'],
  ['npx', { PATH: `/app/node_modules/.bin:${PATH}` }, '/app/node_modules/.bin/svc', 'npx svc'],
  ['the file itself', {}, '/opt/svc/dist/svc.mjs', 'node /opt/svc/dist/svc.mjs'],
  ['the file below the current folder', {}, resolve('dist/svc.mjs'), 'node dist/svc.mjs'],
  ['a link in the current folder', {}, resolve('svc'), './svc'],
])('hints show the command as the user typed it: %s', (_, env, programPath, name) => {
  expect(programName({ PATH, ...env }, programPath)).toBe(name)
})

test('quoteForShell quotes a word that a shell would split', () => {
  expect(quoteForShell('wedges/desk')).toBe('wedges/desk')
  expect(quoteForShell("Kim's desk")).toBe(String.raw`'Kim'\''s desk'`)
})

test('every hint can be copied: in errors, next steps, help and doctor', async () => {
  const cwd = temporaryFolder()
  const env = { SVC_CALLED_AS: '../my/svc' }
  const outputOf = async (...args: string[]) => {
    // The checks of doctor start cells, as the service does.
    const run = args[0] === 'doctor' ? runSvc : callSvc
    const { stdout, stderr } = await run(args, { cwd, env: { ...env, SVC_URL: 'http://127.0.0.1:1' } })
    return stdout + stderr
  }
  const outputs = [
    await outputOf('tasks'),
    await outputOf('nosuch'),
    await outputOf('help'),
    await outputOf('help', 'run'),
    await outputOf('help', 'audit', 'verify'),
    await outputOf('help', 'audit', 'adopt'),
    await outputOf('wedge', 'check'),
    await outputOf('wedge', 'rehearse', 'nosuch'),
    await outputOf('doctor'),
    await outputOf('wedge', 'new', 'desk'),
    await outputOf('audit', 'verify', join(cwd, 'wedges/desk/wedge.json')),
  ]
  for (const text of outputs) {
    expect(text).toContain('../my/svc ')
    // An error begins with `svc: `, and SVC_KEY, svc_key and svc.db are not commands.
    expect(text.replace(/^svc: /gm, '')).not.toMatch(/(?<![/\w])svc (?!COMMAND)[a-z]/)
  }
})
