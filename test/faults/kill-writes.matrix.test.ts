import { spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import {
  waitForEvent,
  type ScriptedDeployment,
  createScriptedTask,
  createScriptedDeployment,
} from './scripted-deployment.ts'
import { expectInvariants } from './invariants.ts'
import { FAULT_TIMEOUT_MS, attemptNumbers } from './rounds.ts'
import type { ServiceProcess } from './service-process.ts'

/** A start and a whole gated run make at least this many calls; an attempt with a high number may not be killed. */
const MIN_SYSTEM_CALLS = { fsync: 14, pwrite64: 70 }

const canTrace =
  process.platform === 'linux' &&
  spawnSync('strace', ['-D', '-e', 'inject=exit_group:signal=SIGKILL', '-o', '/dev/null', 'true']).signal === 'SIGKILL'

/** The command that runs the service and kills it at the nth system call of this kind. */
const killAtCall = (call: keyof typeof MIN_SYSTEM_CALLS, n: number, dir: string) => {
  const calls = call === 'fsync' ? 'fsync,fdatasync' : call
  // The main thread does all writes, so `-f` is not needed; `--seccomp-bpf` would prevent the injection.
  const options = ['-D', '-e', `trace=${calls}`, '-e', `inject=${calls}:signal=SIGKILL:when=${n}`]
  return ['strace', ...options, '-o', join(dir, 'trace')]
}

interface Acknowledged {
  tasks: string[]
  decisions: [string, string][]
}

/** Runs a gated task until it ends or the service dies, and adds what the service acknowledged to `acknowledged`. */
async function runGatedTask(service: ServiceProcess, acknowledged: Acknowledged): Promise<void> {
  const id = await createScriptedTask(service, [
    { event: 'progress', data: { text: 'on' } },
    { act: 'send_note' },
    { output: 1 },
  ])
  acknowledged.tasks.push(id)
  const approval = await waitForEvent(service, id, 'approval.requested')
  const { status } = await service.call('POST', `/v1/approvals/${approval}/approve`, { edited: { text: 'better' } })
  if (status === 200) acknowledged.decisions.push([approval, 'approved'])
  await service.events(id)
}

/** Returns how many system calls the service made before it died or the task ended. */
async function countCallsUntilKilled(
  deployment: ScriptedDeployment,
  wrapper: string[],
  acknowledged: Acknowledged,
): Promise<number> {
  const service = await deployment.start({}, wrapper).catch(() => null)
  if (service) {
    await runGatedTask(service, acknowledged).catch(() => {})
    await service.kill()
  }
  return readFileSync(join(deployment.dir, 'trace'), 'utf8').split(/sync\(|pwrite64\(/).length - 1
}

const cases = (['fsync', 'pwrite64'] as const).flatMap((call) =>
  attemptNumbers(2).map(() => [call, randomInt(1, MIN_SYSTEM_CALLS[call] + 1)] as const),
)

// Stopping a program between two writes needs strace and the permission to trace.
test.skipIf(!canTrace).each(cases)(
  'kill -9 at %s number %d of a gated run: the SQLite file is intact, and all acknowledged tasks and decisions are in it',
  async (call, n) => {
    const deployment = await createScriptedDeployment('sqlite')
    await (await deployment.open()).kill()
    const acknowledged: Acknowledged = { tasks: [], decisions: [] }
    expect(
      await countCallsUntilKilled(deployment, killAtCall(call, n, deployment.dir), acknowledged),
    ).toBeLessThanOrEqual(n)
    // A task that was still queued runs now, and its approval may expire.
    const next = await deployment.start({ SVC_APPROVAL_TTL_S: '2' })
    const db = await deployment.openRows()
    expect((await sql`pragma integrity_check`.execute(db)).rows).toEqual([{ integrity_check: 'ok' }])
    expect((await sql`pragma foreign_key_check`.execute(db)).rows).toEqual([])
    await expectInvariants(next, db, { ...acknowledged, received: deployment.outside.received })
  },
  FAULT_TIMEOUT_MS,
)
