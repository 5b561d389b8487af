import { spawnSync } from 'node:child_process'
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { countByStatus } from '../identity/accounts/members.ts'
import { eventually } from '../execution/runs/scripted-agent.ts'
import { waitForEvent, createScriptedTask, createScriptedDeployment } from './scripted-deployment.ts'
import { expectInvariants } from './invariants.ts'
import { FAULT_TIMEOUT_MS, attemptNumbers } from './rounds.ts'
import type { ServiceProcess } from './service-process.ts'
import { onlyInMatrix } from '../matrix.ts'

const mount = (dir: string) => spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=12m', 'none', dir]).status === 0
const unmount = (dir: string) => spawnSync('umount', ['--lazy', dir])

/** Only root may mount a small disk, and not in every container. */
function canMount(): boolean {
  const dir = mkdtempSync(join(tmpdir(), 'svc-mount-'))
  const mounted = process.getuid?.() === 0 && mount(dir)
  if (mounted) unmount(dir)
  rmSync(dir, { recursive: true, force: true })
  return mounted
}

/** Writes until the disk has no more than this many bytes left. */
function fillDisk(path: string, left = 0): void {
  const file = openSync(path, 'w')
  const block = Buffer.alloc(4096)
  const hasSpace = () => left === 0 || statfsSync(dirname(path)).bavail * statfsSync(dirname(path)).bsize > left
  try {
    while (hasSpace()) writeSync(file, block)
  } catch {}
  closeSync(file)
}

/** Creates tasks until one is refused, and returns the ids of the accepted tasks. */
async function createUntilRefused(service: ServiceProcess): Promise<string[]> {
  const accepted: string[] = []
  for (;;) {
    const { status, body } = await service.call('POST', '/v1/tasks', {
      wedge: 'gate',
      task_type: 'act',
      input: [{ output: 1 }],
    })
    if (status !== 201) {
      expect([status, body.error]).toEqual([503, expect.any(String)])
      return accepted
    }
    accepted.push(body.id)
  }
}

const health = async (service: ServiceProcess) => (await service.call('GET', '/health')).status

// The test needs the permission to mount a small disk that it can fill.
test.skipIf(!canMount())(
  'a full disk returns 503 and leaves no partial writes; the service continues once there is space',
  async () => {
    const deployment = await createScriptedDeployment('sqlite', { SVC_MAX_CONCURRENT_TASKS: '2' })
    const data = join(deployment.dir, 'data')
    mkdirSync(data)
    mount(data)
    onTestFinished(() => void unmount(data))
    const service = await deployment.open()
    const waiting = await createScriptedTask(service, [{ act: 'send_note' }, { output: 'sent' }])
    const approval = await waitForEvent(service, waiting, 'approval.requested')
    const running = await createScriptedTask(service, [{ event: 'progress', data: { text: 'on' } }, 'hang'])
    await waitForEvent(service, running, 'progress')
    fillDisk(join(data, 'filler'), 512 * 1024)
    // Small writes still succeed, and the health check already says that larger ones will not.
    expect(await health(service)).toBe(503)
    fillDisk(join(data, 'filler2'))
    const accepted = await createUntilRefused(service)
    await eventually(async () => (await health(service)) === 503)
    rmSync(join(data, 'filler2'))
    rmSync(join(data, 'filler'))
    await eventually(async () => (await health(service)) === 200)
    expect((await service.call('POST', `/v1/approvals/${approval}/approve`, {})).status).toBe(200)
    const later = await createScriptedTask(service, [{ output: 'later' }])
    expect((await service.call('POST', `/v1/tasks/${running}/cancel`)).status).toBe(200)
    const ended = await expectInvariants(service, await deployment.openRows(), {
      tasks: [...accepted, waiting, running, later],
      decisions: [[approval, 'approved']],
      received: deployment.outside.received,
    })
    for (const id of [...accepted, waiting, later]) expect(ended.get(id)).toMatchObject({ status: 'succeeded' })
  },
  FAULT_TIMEOUT_MS,
)

/** Opens the database file as another program would, such as a backup or a shell. */
function openSecondWriter(dir: string) {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const name = major > 22 || (major === 22 && minor >= 13) ? 'node:sqlite' : '@photostructure/sqlite'
  const { DatabaseSync } = createRequire(import.meta.url)(name) as typeof import('@photostructure/sqlite')
  const database = new DatabaseSync(join(dir, 'data', 'svc.db'))
  onTestFinished(() => database.close())
  return { lock: () => database.exec('begin immediate'), unlock: () => database.exec('rollback') }
}

onlyInMatrix(() => {
  test.each(attemptNumbers(1))(
    'while another program locks the SQLite file for one second, fifty requests wait and none is refused (%d)',
    async () => {
      const deployment = await createScriptedDeployment('sqlite')
      const service = await deployment.open()
      const { lock, unlock } = openSecondWriter(deployment.dir)
      lock()
      const creating = Array.from({ length: 50 }, () =>
        service.call('POST', '/v1/tasks', { wedge: 'gate', task_type: 'act', input: [{ output: 1 }] }),
      )
      await new Promise((resolve) => setTimeout(resolve, 1_000))
      unlock()
      const responses = await Promise.all(creating)
      expect(countByStatus(responses)).toEqual({ 201: 50 })
      await expectInvariants(service, await deployment.openRows(), { tasks: responses.map(({ body }) => body.id) })
    },
    FAULT_TIMEOUT_MS,
  )
})
