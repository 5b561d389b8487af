import type { ChildProcess } from 'node:child_process'
import path from 'node:path'

/** The cell's own folder; the same for everybody inside. */
export const homeFolder = (): string => process.env['HOME'] ?? '/tmp'

/** All that a program inside the sandbox gets to see: nothing of the service, only how to find and name things. */
export function minimalEnvironment(): Record<string, string> {
  const given = process.env['PATH']?.split(':') ?? ['/usr/local/bin', '/usr/bin', '/bin']
  const programs = new Set([path.dirname(process.execPath), ...given])
  return { PATH: [...programs].join(':'), HOME: homeFolder(), LANG: 'C.UTF-8', TZ: 'UTC' }
}

/** Ends a child that was started detached, together with everything that it started. */
export function killProcessGroup(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  } catch {
    // Nothing of the group is left.
  }
}
