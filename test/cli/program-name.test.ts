import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { programName, quoteForShell } from '../../src/cli/shell/program-name.ts'
import { runSvc, temporaryFolder } from './run-svc.ts'

const PATH = '/usr/local/bin:/usr/bin'

test.each([
  ['the script of a clone', { SVC_CALLED_AS: './svc' }, '/clone/dist/svc.mjs', './svc'],
  ['the script from elsewhere', { SVC_CALLED_AS: '../clone/svc' }, '/clone/dist/svc.mjs', '../clone/svc'],
  ['a clone with a blank in its name', { SVC_CALLED_AS: '/my clone/svc' }, '/x/dist/svc.mjs', "'/my clone/svc'"],
  ['a link on the PATH to the script', { SVC_CALLED_AS: '/usr/local/bin/svc' }, '/clone/dist/svc.mjs', 'svc'],
  ['what a global installation puts on the PATH', {}, '/usr/bin/svc', 'svc'],
  [
    'npx, whose PATH the shell does not have',
    { PATH: `/app/node_modules/.bin:${PATH}` },
    '/app/node_modules/.bin/svc',
    'npx svc',
  ],
  ['the program itself', {}, '/opt/svc/dist/svc.mjs', 'node /opt/svc/dist/svc.mjs'],
  ['the program below this folder', {}, resolve('dist/svc.mjs'), 'node dist/svc.mjs'],
  ['a link in this folder', {}, resolve('svc'), './svc'],
])('advice names the command as it was called: %s', (_, env, program, name) => {
  expect(programName({ PATH, ...env }, program)).toBe(name)
})

test('a word that a shell would take apart is quoted', () => {
  expect(quoteForShell('wedges/desk')).toBe('wedges/desk')
  expect(quoteForShell("Kim's desk")).toBe(String.raw`'Kim'\''s desk'`)
})

test('every advice can be copied: errors, next steps, help and the doctor', async () => {
  const cwd = temporaryFolder()
  const env = { SVC_CALLED_AS: '../my/svc' }
  const called = async (...words: string[]) => {
    const { stdout, stderr } = await runSvc(words, { cwd, env: { ...env, SVC_URL: 'http://127.0.0.1:1' } })
    return stdout + stderr
  }
  const said = [
    await called('tasks'),
    await called('nosuch'),
    await called('help'),
    await called('help', 'run'),
    await called('help', 'audit', 'verify'),
    await called('help', 'audit', 'adopt'),
    await called('wedge', 'check'),
    await called('wedge', 'rehearse', 'nosuch'),
    await called('doctor'),
    await called('wedge', 'new', 'desk'),
    await called('audit', 'verify', join(cwd, 'wedges/desk/wedge.json')),
  ]
  for (const text of said) {
    expect(text).toContain('../my/svc ')
    // The first word of an error names the program; SVC_KEY, svc_key and svc.db are no commands.
    expect(text.replace(/^svc: /gm, '')).not.toMatch(/(?<![/\w])svc (?!COMMAND)[a-z]/)
  }
})
