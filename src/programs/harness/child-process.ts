import type { ChildProcess } from 'node:child_process'

/** The home folder of all programs in the cell. */
export const homeFolder = (): string => process.env['HOME'] ?? '/tmp'

/** The environment of programs in the sandbox: the search path, home folder, locale and time zone. */
export function minimalEnvironment(): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin', HOME: homeFolder(), LANG: 'C.UTF-8', TZ: 'UTC' }
}

/** Kills a child that was started detached, and all its children. */
export function killProcessGroup(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  } catch {
    // No process of the group is left.
  }
}
