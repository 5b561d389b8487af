import { readlinkSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { SandboxDriver } from '../../../src/execution/sandbox/driver.ts'
import { runCell } from './run-cell.ts'
import { tryDriver } from './usable-drivers.ts'

const { driver, problem } = await tryDriver('bwrap')
if (driver) describe('bwrap', () => namespaceContract(driver))
else test.skip(`bwrap does not work on this machine: ${problem}`, () => {})

function namespaceContract(driver: SandboxDriver): void {
  test('a cell has users of its own, and its files make no program privileged', async () => {
    const command = ['sh', '-c', 'id -u; readlink /proc/self/ns/user; cat /proc/self/mountinfo']
    const { lines } = await runCell(driver, { profile: 'workshop', command, hasFilesFolder: true })
    const [user, namespace, ...rest] = lines
    expect(user).toBe('65534')
    expect(namespace).toMatch(/^user:/)
    expect(namespace).not.toBe(readlinkSync('/proc/self/ns/user'))
    const mounts = rest.map((line) => line.split(' '))
    const shown = mounts.filter(([, , , , target = '']) => /^\/(usr|agent|tmp|tmp\/in|dev\/shm)$/.test(target))
    expect(shown.map(([, , , , target]) => target)).toEqual(
      expect.arrayContaining(['/usr', '/agent', '/tmp', '/tmp/in']),
    )
    const privileging = shown.filter(([, , , , , options = '']) => !/nosuid,nodev/.test(options))
    expect(privileging).toEqual([])
  })
}
