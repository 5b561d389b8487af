import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'

/** One line of a child process that does the work of an agent. */
export type ChildLine = { run?: string; ready?: true; event?: string; data?: unknown; ask?: true; output?: unknown }
export type BareChild = ChildProcessByStdio<Writable, Readable, null>

/** Starts a program with an empty environment, as the service starts its cells. */
export function startChild(command: string[], onLine: (line: ChildLine) => void): BareChild {
  const [program = '', ...args] = command
  const child = spawn(program, args, { env: {}, stdio: ['pipe', 'pipe', 'inherit'] })
  let rest = ''
  child.stdout.setEncoding('utf8')
  child.stdout.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) onLine(JSON.parse(line) as ChildLine)
  })
  child.stdin.on('error', () => {})
  return child
}

/** The command in a minimal sandbox: namespaces and read-only files, without a system call filter and limits. */
export function bubblewrapCommand(command: string[], folder: string): string[] {
  const namespaces = ['--unshare-all', '--die-with-parent', '--ro-bind', '/', '/', '--proc', '/proc', '--dev', '/dev']
  // The folder of the program may be below /tmp, which is hidden.
  const mounts = ['--tmpfs', '/tmp', '--ro-bind', folder, folder]
  return ['bwrap', ...namespaces, ...mounts, '--', ...command]
}
