import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ROOT } from '../../docs/pages.ts'
import { callSvc } from './call-svc.ts'
import { runSvc, temporaryFolder } from './run-svc.ts'

describe('init DIR', () => {
  test('creates a project with an example wedge and a key that only its owner can read', async () => {
    const cwd = temporaryFolder()
    const { code, lines } = await runSvc(['init', 'My Shop', '--json'], { cwd })
    const project = join(cwd, 'My Shop')
    expect({ code, lines }).toMatchObject({ code: 0, lines: [{ project }] })
    expect(lines[0].files).toEqual(
      expect.arrayContaining(['.gitignore', '.env', 'package.json', 'README.md', 'wedges/shop-helper/wedge.json']),
    )
    expect(lines[0].files.filter((file: string) => !existsSync(join(project, file)))).toEqual([])
    expect(statSync(join(project, '.env')).mode & 0o777).toBe(0o600)
    expect(readFileSync(join(project, '.gitignore'), 'utf8').split('\n')).toContain('.env')
    expect(JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'))).toEqual({
      name: 'my-shop',
      private: true,
      scripts: { start: 'svc serve' },
      // From a clone, npm finds the program in the clone.
      dependencies: { 'agent-work-service': `file:${relative(project, ROOT)}` },
    })
    expect((await callSvc(['wedge', 'check'], { cwd: project })).code).toBe(0)
    const doctor = await runSvc(['doctor'], { cwd: project })
    expect(doctor.stdout).toContain('✓ secret key: set, 32 bytes')
    expect(doctor.stdout).toContain('✓ wedges: 1 in')
  })

  test('gives every project its own key, and prints none', async () => {
    const cwd = temporaryFolder()
    const keys = []
    for (const name of ['a', 'b']) {
      const { stdout, stderr } = await callSvc(['init', name], { cwd })
      const [, key = ''] = /^SVC_SECRET_KEY=(.+)$/m.exec(readFileSync(join(cwd, name, '.env'), 'utf8')) ?? []
      expect(stdout + stderr).not.toContain(key)
      expect(stderr).toContain(`next: cd ${name} && npm install && npx svc serve`)
      keys.push(key)
    }
    expect(new Set(keys).size).toBe(2)
  })

  test('refuses a folder that is not empty and changes nothing in it', async () => {
    const cwd = temporaryFolder()
    await callSvc(['init', 'shop'], { cwd })
    const before = readFileSync(join(cwd, 'shop/.env'), 'utf8')
    const { code, stdout, stderr } = await callSvc(['init', 'shop'], { cwd })
    expect({ code, stdout, stderr }).toMatchObject({ code: 2, stdout: '' })
    expect(stderr).toMatch(/^svc: the folder 'shop' is not empty\n {5}name a new folder; /)
    expect(readFileSync(join(cwd, 'shop/.env'), 'utf8')).toBe(before)
    mkdirSync(join(cwd, 'notes'))
    writeFileSync(join(cwd, 'notes/a.txt'), '')
    expect((await callSvc(['init', 'notes'], { cwd })).code).toBe(2)
    expect(readdirSync(join(cwd, 'notes'))).toEqual(['a.txt'])
    expect(await callSvc(['init', 'notes/a.txt'], { cwd })).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^svc: cannot use the folder 'notes\/a.txt' \(.*exist/),
    })
  })

  test('accepts the current folder, if it has nothing but a git repository', async () => {
    const cwd = temporaryFolder()
    mkdirSync(join(cwd, '.git'))
    const { code, stderr } = await callSvc(['init', '.'], { cwd })
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining('next: npm install && npx') })
    expect(existsSync(join(cwd, 'wedges/shop-helper/wedge.json'))).toBe(true)
  })
})

test('the help of init fits a terminal of 100 columns', async () => {
  const { stdout } = await callSvc(['help', 'init'])
  expect(stdout).toContain('Create a project in a new folder, or a key and examples in the current one')
  expect(stdout.split('\n').filter((line) => line.length > 100)).toEqual([])
})
