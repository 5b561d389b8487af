import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ECHO_WEDGE, sharedApp, testApp, writeFiles } from '../../app.ts'
import { dataLimitMb } from '../../../src/execution/sandbox/cgroup/cell-limits.ts'
import { eventually, loggedLines, scriptedAgentFolder } from './scripted-agent.ts'

const AGENT = `
const fs = require('node:fs')
const brief = JSON.parse(fs.readFileSync(0, 'utf8'))
const data = /^Max data size +(\\d+)/m.exec(fs.readFileSync('/proc/self/limits', 'utf8'))[1] / 1024 ** 2
const library = require('helper')
console.log(JSON.stringify({ output: { from: 'wedge', says: library.word, cwd: process.cwd(), data, type: brief.task.task_type } }))`

const WEDGES = {
  ...ECHO_WEDGE,
  'desk/wedge.json': {
    wedge: 'desk',
    task_types: {
      plain: {},
      own: { harness: { agent: { dir: 'agent', command: 'node main.cjs' } } },
      large: { harness: { agent: { dir: 'agent', command: 'exec node main.cjs' }, memory_mb: 1536 } },
    },
  },
  'desk/rehearsals/plain.json': [{ output: 'bundled' }],
  'desk/agent/main.cjs': AGENT,
  'desk/agent/node_modules/helper/index.js': `exports.word = 'hello'`,
}

describe.each(['bwrap', 'process'])('an agent in the folder of a wedge (%s)', (sandbox) => {
  const app = sharedApp({ store: 'sqlite', wedges: WEDGES, env: { SVC_SANDBOX: sandbox } })
  const run = async (task_type: string) => app().finished((await app().createTask({ wedge: 'desk', task_type })).id)

  test('does the tasks of its type with its installed packages; other types keep the bundled agent', async () => {
    const [own, plain] = [await run('own'), await run('plain')]
    expect(own).toMatchObject({ status: 'succeeded', output: { from: 'wedge', says: 'hello', type: 'own' } })
    expect(plain).toMatchObject({ status: 'succeeded', output: 'bundled' })
    if (sandbox === 'bwrap') expect(own.output).toMatchObject({ cwd: '/custom' })
  })

  test('has 1 GiB of memory, or what its type declares', async () => {
    const [own, large] = [await run('own'), await run('large')]
    expect([own.output, large.output]).toMatchObject([
      { data: dataLimitMb({ memory_mb: 1024 }) },
      { data: dataLimitMb({ memory_mb: 1536 }) },
    ])
  })

  test('can be changed while the service runs', async () => {
    const path = join(app().dir, 'wedges/desk/agent/main.cjs')
    const before = app().ctx.wedges.get('desk')?.agents.agent?.digest
    writeFileSync(path, `console.log('{"output":"changed"}')`)
    await eventually(() => app().ctx.wedges.get('desk')?.agents.agent?.digest !== before)
    expect(await run('own')).toMatchObject({ status: 'succeeded', output: 'changed' })
    writeFileSync(path, `console.error('no luck'); process.exit(3)`)
    expect(await run('own')).toMatchObject({
      status: 'failed',
      error: { reason: 'agent_failed', message: expect.stringMatching(/without an output.*exit code 3.*no luck/s) },
    })
  })
})

test('an agent in a wedge replaces that of the deployment for its type', async () => {
  const app = await testApp({
    store: 'sqlite',
    wedges: WEDGES,
    env: { SVC_SANDBOX: 'bwrap', ...scriptedAgentFolder() },
  })
  const own = await app.createTask({ wedge: 'desk', task_type: 'own' })
  expect(await app.finished(own.id)).toMatchObject({ output: { from: 'wedge' } })
  const input = { js: `say({ output: 'deployment' })` }
  const other = await app.createTask({ wedge: 'desk', task_type: 'plain', input })
  expect(await app.finished(other.id)).toMatchObject({ output: 'deployment' })
})

test('an agent that declares no memory gets no more than the deployment allows', async () => {
  const wedges = structuredClone(WEDGES)
  delete (wedges['desk/wedge.json'].task_types as Record<string, unknown>)['large']
  const app = await testApp({ store: 'sqlite', wedges, env: { SVC_SANDBOX: 'bwrap', SVC_AGENT_MAX_MEMORY_MB: '512' } })
  const { id } = await app.createTask({ wedge: 'desk', task_type: 'own' })
  expect(await app.finished(id)).toMatchObject({ output: { data: dataLimitMb({ memory_mb: 512 }) } })
})

test('the start of the service warns of an interpreter that the sandbox does not show', async () => {
  const files = { ...WEDGES, 'desk/agent/run': '#!/bin/sh\n' }
  const manifest = structuredClone(WEDGES['desk/wedge.json'])
  manifest.task_types.own.harness.agent.command = 'no-such-program main.cjs'
  const app = await testApp({
    store: 'sqlite',
    wedges: { ...files, 'desk/wedge.json': manifest },
    env: { SVC_SANDBOX: 'bwrap' },
  })
  expect(loggedLines(app, "agent of 'desk/own'").map(({ msg }) => msg)).toEqual([
    "agent of 'desk/own': there is no program 'no-such-program' on this machine",
  ])
  const { id } = await app.createTask({ wedge: 'desk', task_type: 'own' })
  expect(await app.finished(id)).toMatchObject({
    status: 'failed',
    error: { message: expect.stringContaining('no-such-program: not found') },
  })
})

const CRASHES = `require('not-installed')`

test('an agent that gives no output is a problem of its wedge until it works; other task types are not affected', async () => {
  const task_types = {
    plain: {},
    works: { harness: { agent: { dir: 'agent', command: 'node works.cjs' } } },
    crashes: { harness: { agent: { dir: 'agent', command: 'node crashes.cjs' } } },
    silent: { harness: { agent: { dir: 'agent', command: 'echo hello' } } },
    asks: { harness: { agent: { dir: 'agent', command: 'node asks.cjs' } } },
    reads: { example: { order: 7 }, harness: { agent: { dir: 'agent', command: 'node reads.cjs' } } },
    hidden: { harness: { agent: { dir: 'agent', command: 'no-such-program' } } },
  }
  const app = await testApp({
    store: 'sqlite',
    wedges: {
      ...WEDGES,
      'desk/wedge.json': { wedge: 'desk', task_types },
      'desk/agent/crashes.cjs': CRASHES,
      'desk/agent/works.cjs': `require('installed'); console.log('{"output":1}')`,
      'desk/agent/node_modules/installed/index.js': '',
      'desk/agent/asks.cjs': `fetch(process.env.SVC_BASE_URL + '/v1/internal/case').catch(() => process.exit(1))`,
      'desk/agent/reads.cjs': `
        const { task } = JSON.parse(require('node:fs').readFileSync(0, 'utf8'))
        if (task.input.order === 7) console.log('{"error":"no"}')`,
    },
    env: { SVC_SANDBOX: 'bwrap' },
  })
  const problems = async () => {
    const { body } = await app.call('GET', '/v1/wedges')
    const wedge = body.data.find((one: { wedge: string }) => one.wedge === 'desk')
    return wedge.problems.map(({ message }: { message: string }) => message)
  }
  const worksLater = async () => {
    await app.clock.advance(20_000)
    return loggedLines(app, 'works now').length > 0
  }
  await expect.poll(problems).toHaveLength(3)
  const [crashes, silent, hidden] = (await problems()) as string[]
  expect(crashes).toMatch(
    /^agent does not work with 'node crashes\.cjs': the agent ended without an output \(exit code 1\): Error: Cannot find module 'not-installed'/,
  )
  expect(silent).toBe("agent does not work with 'echo hello': the agent ended without an output (exit code 0)")
  expect(hidden).toBe(
    "agent does not work with 'no-such-program': there is no program 'no-such-program' on this machine",
  )
  const { body: meta } = await app.call('GET', '/v1/meta')
  expect(meta.problems.map(({ problem }: { problem: string }) => problem)).toEqual([crashes, silent, hidden])
  const { id } = await app.createTask({ wedge: 'desk', task_type: 'plain' })
  expect(await app.finished(id)).toMatchObject({ status: 'succeeded', output: 'bundled' })

  // Installed packages are no part of the wedge, so the check is repeated, but an agent that worked is not started again.
  writeFiles(app.dir, {
    'wedges/desk/agent/node_modules/not-installed/index.js': `console.log('{"output":1}')`,
    'wedges/desk/agent/node_modules/installed/index.js': 'process.exit(1)',
  })
  await expect.poll(worksLater).toBe(true)
  expect(await problems()).toEqual([silent, hidden])
})
