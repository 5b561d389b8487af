import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { sharedApp, type TestApp } from '../../../app.ts'
import { eventually, waitForEvent } from '../scripted-agent.ts'

const WEDGES = {
  'desk/wedge.json': {
    wedge: 'desk',
    title: 'Desk',
    task_types: { wait: {}, quick: {} },
    workflows: [{ name: 'send_note' }],
  },
  'desk/workflows/send_note.mjs': 'export default () => ({ sent: true })',
  'desk/rehearsals/wait.json': [
    { call: { tool: 'workflow', input: { name: 'send_note', args: {} } } },
    { output: { did: '{{last.sent}}' } },
  ],
  'desk/rehearsals/quick.json': [{ output: 'done' }],
  'lab/wedge.json': { wedge: 'lab', title: 'Lab', tools: ['shell', 'files'], task_types: { command: {}, wait: {} } },
  'lab/rehearsals/command.json': [
    { call: { tool: 'run_command', input: { command: '{{input.command}}' } } },
    { output: { result: '{{last}}' } },
  ],
  'lab/rehearsals/wait.json': [{ call: { tool: 'run_command', input: { command: 'sleep 600' } } }, { output: 'slept' }],
}

const app = sharedApp({
  store: 'sqlite',
  wedges: WEDGES,
  env: { SVC_SANDBOX: 'bwrap', SVC_POOL: '0', SVC_TASK_RATE_PER_MIN: '10000', SVC_OPEN_SIGNUP: '1' },
})

/** Starts a task that waits for an approval, in its cell. */
async function startWaitingTask(app: TestApp, key = app.key): Promise<string> {
  const { status, body } = await app.call('POST', '/v1/tasks', { wedge: 'desk', task_type: 'wait' }, { key })
  expect(status).toBe(201)
  await app.events(body.id, { key, until: ({ event }) => event === 'approval.requested' })
  return body.id
}

async function approve(app: TestApp, taskId: string, key = app.key): Promise<void> {
  const { body } = await app.call('GET', '/v1/approvals?status=pending', undefined, { key })
  const pending = body.data.find((approval: { task_id: string }) => approval.task_id === taskId)
  expect((await app.call('POST', `/v1/approvals/${pending.approval_id}/approve`, {}, { key })).status).toBe(200)
}

/** The ids of the harness processes that this service has started in sandboxes. */
function cellPids(): number[] {
  return childrenOf(process.pid).flatMap((bwrap) => {
    return commandLine(bwrap).includes('harness.cjs') ? childrenOf(bwrap) : []
  })
}

function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  } catch {
    return []
  }
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}

/** Creates a second founder with an own project, and returns an API key of it. */
async function createSecondProject(app: TestApp): Promise<string> {
  const account = { email: 'second@example.com', password: 'correct horse battery' }
  const { body } = await app.call('POST', '/v1/auth/signup', account, { key: null })
  const { body: projects } = await app.call('GET', '/v1/projects', undefined, { key: body.session_token })
  const headers = { 'x-svc-project': projects.data[0].id }
  const created = await app.call('POST', '/v1/keys', { name: 'own' }, { key: body.session_token, headers })
  expect(created.status).toBe(201)
  return created.body.key
}

describe('shared cells', () => {
  test('tasks of one project share a cell, and two projects never do', async () => {
    const first = await startWaitingTask(app())
    expect(cellPids()).toHaveLength(1)
    const second = await startWaitingTask(app())
    expect(cellPids()).toHaveLength(1)
    const key = await createSecondProject(app())
    const other = await startWaitingTask(app(), key)
    expect(cellPids()).toHaveLength(2)
    for (const id of [first, second]) await approve(app(), id)
    await approve(app(), other, key)
    expect(await app().finished(first)).toMatchObject({ status: 'succeeded', output: { did: true } })
    expect(await app().finished(second)).toMatchObject({ status: 'succeeded' })
    await app().events(other, { key })
    expect(cellPids()).toHaveLength(2)
  })

  test('a crash of a shared cell fails its runs, and the next task gets a new cell', async () => {
    const runs = [await startWaitingTask(app()), await startWaitingTask(app())]
    const before = cellPids()
    for (const pid of before) process.kill(pid, 'SIGKILL')
    for (const id of runs) {
      expect(await app().finished(id)).toMatchObject({ status: 'failed', error: { reason: 'agent_failed' } })
    }
    const task = await app().createTask({ wedge: 'desk', task_type: 'quick' })
    expect(await app().finished(task.id)).toMatchObject({ status: 'succeeded', output: 'done' })
    expect(cellPids().filter((pid) => before.includes(pid))).toEqual([])
  })

  test('a hanging cell keeps its runs, and the next task gets another cell', async () => {
    const held = await startWaitingTask(app())
    const [pid = 0] = cellPids()
    process.kill(pid, 'SIGSTOP')
    const stuck = await app().createTask({ wedge: 'desk', task_type: 'quick', constraints: { max_runtime_s: 5 } })
    await waitForEvent(app(), stuck.id, 'task.created')
    await app().clock.advance(5_000)
    expect(await app().finished(stuck.id)).toMatchObject({ error: { reason: 'runtime_exceeded' } })
    const next = await app().createTask({ wedge: 'desk', task_type: 'quick' })
    expect(await app().finished(next.id)).toMatchObject({ status: 'succeeded' })
    await app().call('POST', `/v1/tasks/${held}/cancel`)
    await eventually(() => !cellPids().includes(pid))
  })
})

describe('a cell for one run', () => {
  test('contains no socket, because the harness sends its requests over a pipe', async () => {
    const before = cellPids().length
    const input = { command: 'find / -path /proc -prune -o -type s -print; ls /run; echo nothing' }
    const task = await app().createTask({ wedge: 'lab', task_type: 'command', input })
    expect((await app().finished(task.id)).output).toMatchObject({ result: { stdout: 'nothing\n' } })
    await eventually(() => cellPids().length === before)
  })

  test('runs commands without network and without other processes, and ends with its run', async () => {
    const before = cellPids().length
    const command =
      'id -u; ls /proc | grep -c "^[0-9]"; (echo > /dev/tcp/127.0.0.1/80) 2>&1 | head -c 1; cat /proc/net/dev | grep -vc lo:; echo file > out/made.txt'
    const task = await app().createTask({ wedge: 'lab', task_type: 'command', input: { command } })
    const finished = await app().finished(task.id)
    expect(finished).toMatchObject({ status: 'succeeded' })
    expect(JSON.stringify(finished.output)).toContain('65534')
    expect((finished.artifacts as { name: string }[]).map(({ name }) => name)).toEqual(['output.json', 'made.txt'])
    await eventually(() => cellPids().length === before)
  })

  test('ends with all its processes when the task is cancelled', async () => {
    const before = cellPids().length
    const task = await app().createTask({ wedge: 'lab', task_type: 'wait' })
    await waitForEvent(app(), task.id, 'tool.called')
    expect(cellPids()).toHaveLength(before + 1)
    await app().call('POST', `/v1/tasks/${task.id}/cancel`)
    await eventually(() => cellPids().length === before)
  })

  test('is not started for a task whose tools exclude the shell', async () => {
    const before = cellPids().length
    const task = await app().createTask({
      wedge: 'lab',
      task_type: 'command',
      input: { command: 'id' },
      tools: ['progress'],
    })
    const { output } = await app().finished(task.id)
    expect(JSON.stringify(output)).toContain("there is no tool 'run_command'")
    expect(cellPids().length).toBe(before)
  })
})
