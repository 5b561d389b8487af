import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'

/** Programs that do the work of an agent, each line of theirs one JSON object. */
export type ChildLine = { run?: string; ready?: true; event?: string; data?: unknown; ask?: true; output?: unknown }
export type BareChild = ChildProcessByStdio<Writable, Readable, null>

/** Starts a program with an empty environment, which is how the service starts its cells too. */
export function startChild(command: string[], onLine: (line: ChildLine) => void): BareChild {
  const [program = '', ...words] = command
  const child = spawn(program, words, { env: {}, stdio: ['pipe', 'pipe', 'inherit'] })
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

/** A sandbox of the plainest kind: namespaces and a read-only machine, no filter and no limits. */
export function inBubblewrap(command: string[], folder: string): string[] {
  const sealed = ['--unshare-all', '--die-with-parent', '--ro-bind', '/', '/', '--proc', '/proc', '--dev', '/dev']
  // The programs may lie below the folder that is covered.
  const covered = ['--tmpfs', '/tmp', '--ro-bind', folder, folder]
  return ['bwrap', ...sealed, ...covered, '--', ...command]
}
