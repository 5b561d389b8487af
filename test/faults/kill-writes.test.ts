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

/** How many of these calls a boot and a whole gated run make at least; some tries may come through alive. */
const CALLS = { fsync: 14, pwrite64: 70 }

const canTrace =
  process.platform === 'linux' &&
  spawnSync('strace', ['-D', '-e', 'inject=exit_group:signal=SIGKILL', '-o', '/dev/null', 'true']).signal === 'SIGKILL'

/** Becomes the service, which is killed as it makes the call for the nth time. */
const killedAt = (call: keyof typeof CALLS, n: number, dir: string) => {
  const calls = call === 'fsync' ? 'fsync,fdatasync' : call
  // The thread that starts is the one that writes; a filter in the kernel would keep the injection from happening.
  const words = ['-D', '-e', `trace=${calls}`, '-e', `inject=${calls}:signal=SIGKILL:when=${n}`]
  return ['strace', ...words, '-o', join(dir, 'trace')]
}

interface Told {
  tasks: string[]
  decisions: [string, string][]
}

/** A gated run from its creation to its end, or until the service is gone; what it was told is kept in `told`. */
async function live(service: ServiceProcess, told: Told): Promise<void> {
  const id = await createScriptedTask(service, [
    { event: 'progress', data: { text: 'on' } },
    { act: 'send_note' },
    { output: 1 },
  ])
  told.tasks.push(id)
  const approval = await waitForEvent(service, id, 'approval.requested')
  const { status } = await service.call('POST', `/v1/approvals/${approval}/approve`, { edited: { text: 'better' } })
  if (status === 200) told.decisions.push([approval, 'approved'])
  await service.events(id)
}

/** Answers how many calls the service made before it died, or before its life was over. */
async function killedLife(place: ScriptedDeployment, under: string[], told: Told): Promise<number> {
  const service = await place.start({}, under).catch(() => null)
  if (service) {
    await live(service, told).catch(() => {})
    await service.kill()
  }
  return readFileSync(join(place.dir, 'trace'), 'utf8').split(/sync\(|pwrite64\(/).length - 1
}

const cases = (['fsync', 'pwrite64'] as const).flatMap((call) =>
  attemptNumbers(2).map(() => [call, randomInt(1, CALLS[call] + 1)] as const),
)

// Without a tracer, or where it may not trace, there is no way to stop a program between two writes.
test.skipIf(!canTrace).each(cases)(
  'kill -9 at %s number %d of a gated run: the SQLite file is sound, and all that was acknowledged is true',
  async (call, n) => {
    const place = await createScriptedDeployment('sqlite')
    await (await place.open()).kill()
    const told: Told = { tasks: [], decisions: [] }
    expect(await killedLife(place, killedAt(call, n, place.dir), told)).toBeLessThanOrEqual(n)
    // A task that was still queued runs now, and its question may expire.
    const next = await place.start({ SVC_APPROVAL_TTL_S: '2' })
    const db = await place.openRows()
    expect((await sql`pragma integrity_check`.execute(db)).rows).toEqual([{ integrity_check: 'ok' }])
    expect((await sql`pragma foreign_key_check`.execute(db)).rows).toEqual([])
    await expectInvariants(next, db, { ...told, received: place.outside.received })
  },
  FAULT_TIMEOUT_MS,
)
