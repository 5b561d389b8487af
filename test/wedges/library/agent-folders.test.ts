import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { checkWedge } from '../../../src/programs/cli/wedge/check-wedge.ts'
import { findHiddenProgram } from '../../../src/platform/contract/wedge/declared-agents.ts'
import { readWedge } from '../../../src/wedges/library/read-wedge.ts'
import { writeFiles } from '../../app.ts'

let root = ''
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'svc-agents-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  writeFiles(root, { 'desk/agent/main.py': 'print()', 'desk/agent/package-lock.json': '{}' })
})

const writeManifest = (agent: unknown, memory_mb?: number) =>
  writeFiles(root, {
    'desk/wedge.json': { wedge: 'desk', task_types: { own: { harness: { agent, ...(memory_mb && { memory_mb }) } } } },
    'desk/rehearsals/own.json': [{ output: 1 }],
  })

/** The messages of the service and of `svc wedge check`. */
async function findProblems(): Promise<{ loaded: boolean; service: string[]; check: string[] }> {
  const { wedge, problems } = await readWedge(root, 'desk')
  const findings = await checkWedge({ PATH: '' }, join(root, 'desk'))
  return {
    loaded: wedge !== null,
    service: problems.map(({ message }) => message),
    check: findings.map(({ message }) => message),
  }
}

test('a wedge with an agent in its folder has no problem', async () => {
  writeManifest({ dir: 'agent', command: 'sh main.py' }, 2048)
  expect(await findProblems()).toEqual({ loaded: true, service: [], check: [] })
})

test.each(['../desk/agent', '/etc', '.', 'agent/../agent', './agent', 'a\\b'])(
  'the folder of an agent cannot be %s',
  async (dir) => {
    writeManifest({ dir, command: 'sh main.py' })
    const message = 'task_types.own.harness.agent.dir must be the path of a folder below the wedge, such as agent'
    expect(await findProblems()).toEqual({ loaded: false, service: [message], check: [message] })
  },
)

test('the folder of an agent cannot leave the wedge by a link', async () => {
  mkdirSync(join(root, 'outside'))
  symlinkSync('../outside', join(root, 'desk/linked'))
  writeManifest({ dir: 'linked', command: 'sh main.py' })
  const message = 'linked does not exist, or is a link to a target outside the wedge'
  expect(await findProblems()).toEqual({ loaded: false, service: [message], check: [message] })
})

test('a folder or a file that does not exist is named', async () => {
  writeManifest({ dir: 'nothing', command: 'sh main.py' })
  expect((await findProblems()).service).toEqual(['nothing does not exist, or is a link to a target outside the wedge'])
  writeManifest({ dir: 'agent', command: 'python3 other.py --fast' })
  const missing = "there is no file 'other.py' in the folder of the agent"
  const problems = await findProblems()
  expect(problems.service).toEqual([`agent cannot be started with 'python3 other.py --fast': ${missing}`])
  expect(problems.check).toEqual([missing])
})

test('an agent cannot declare more memory than the deployment allows', async () => {
  writeManifest({ dir: 'agent', command: 'sh main.py' }, 2049)
  const message = 'task_types.own.harness.memory_mb must be at most 2048 (SVC_AGENT_MAX_MEMORY_MB)'
  expect(await findProblems()).toEqual({ loaded: false, service: [message], check: [message] })
  expect((await readWedge(root, 'desk', { agentMaxMemoryMb: 4096 })).problems).toEqual([])
})

test('the digest of an agent covers its files and lock file, but no installed package', async () => {
  writeManifest({ dir: 'agent', command: 'sh main.py' })
  const digest = async () => (await readWedge(root, 'desk')).wedge?.agents.agent?.digest
  const first = await digest()
  writeFiles(root, {
    'desk/agent/node_modules/a/index.js': '1',
    'desk/agent/env/pyvenv.cfg': 'home = /usr/bin',
    'desk/agent/env/lib/module.py': '1',
    'desk/agent/__pycache__/main.pyc': '1',
  })
  expect(await digest()).toBe(first)
  writeFiles(root, { 'desk/agent/package-lock.json': '{"a":1}' })
  const second = await digest()
  expect(second).not.toBe(first)
  writeFiles(root, { 'desk/agent/lib/new.py': '1' })
  expect(await digest()).not.toBe(second)
})

test('a program that the sandbox does not show is named with its real path', () => {
  const program = join(root, 'bin/interpreter')
  mkdirSync(join(root, 'bin'))
  writeFileSync(program, '')
  chmodSync(program, 0o755)
  mkdirSync(join(root, 'desk/agent/.venv/bin'), { recursive: true })
  symlinkSync(program, join(root, 'desk/agent/.venv/bin/python'))
  const agentDir = join(root, 'desk/agent')
  const find = (command: string) => findHiddenProgram(agentDir, command, join(root, 'bin'))
  for (const command of ['interpreter main.py', '.venv/bin/python main.py'])
    expect(find(command)).toContain(`is ${program}, which the agent cannot start: the sandbox shows only /usr`)
  expect(find('not-there')).toBe("there is no program 'not-there' on this machine")
  for (const command of ['sh main.py', 'node x', 'exec env sh', 'A=1 not-there', 'cd x && not-there'])
    expect(find(command)).toBeNull()
  symlinkSync('/bin/sh', join(agentDir, 'own-shell'))
  expect(find('./own-shell main.py')).toBeNull()
})

test('a program of a virtual environment is named if its Python is not shown', () => {
  const agentDir = join(root, 'desk/agent')
  const find = (command: string) => findHiddenProgram(agentDir, command, '')
  writeFiles(agentDir, {
    '.venv/pyvenv.cfg': 'home = /root/.pyenv/versions/3.11.7/bin\nversion = 3.11.7\n',
    '.venv/bin/python': 'a copy of the interpreter',
    '.venv/bin/tool': `#!${agentDir}/.venv/bin/python\n`,
    'run.sh': '#! /bin/sh\n',
  })
  for (const file of ['.venv/bin/python', '.venv/bin/tool', 'run.sh']) chmodSync(join(agentDir, file), 0o755)
  expect(find('.venv/bin/python main.py')).toBe(
    "the program '.venv/bin/python' needs the Python in /root/.pyenv/versions/3.11.7/bin, which the agent cannot use: " +
      'the sandbox shows only /usr, /bin, the libraries and the folder of the agent',
  )
  expect(find('exec .venv/bin/tool')).toContain(
    `needs ${agentDir}/.venv/bin/python, which the sandbox does not show: start it with an interpreter`,
  )
  expect(find('./run.sh')).toBeNull()
  writeFiles(agentDir, { '.venv/pyvenv.cfg': 'home = /usr/bin\n' })
  expect(find('.venv/bin/python main.py')).toBeNull()
})
