import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { FOUNDER_KEY } from '../../app.ts'

export const PROGRAM = fileURLToPath(new URL('../../../dist/svc.mjs', import.meta.url))

export interface SvcResult {
  code: number | null
  stdout: string
  stderr: string
  /** The JSON lines that `--json` printed. */
  // oxlint-disable-next-line typescript/no-explicit-any
  lines: any[]
}

export interface SvcOptions {
  /** The service to call, with the founder key of every test app. */
  url?: string
  env?: Record<string, string>
  /** The text for stdin, which is then closed; null keeps stdin open without text. */
  stdin?: string | null
  cwd?: string
  /** Another copy of the program than the one in `dist`. */
  programPath?: string
}

/** Hints show the command as `svc`. */
const PROGRAM_NAME_ENV = { SVC_CALLED_AS: 'svc' }

/** The environment of a command that calls the service at this address. */
export const commandEnv = (url: string | undefined, env: Record<string, string> = {}): Record<string, string> => ({
  PATH: process.env['PATH'] ?? '',
  ...PROGRAM_NAME_ENV,
  ...(url !== undefined && { SVC_URL: url, SVC_KEY: FOUNDER_KEY }),
  ...env,
})

/** Runs the built program and waits until it ends. */
export async function runSvc(
  args: string[],
  { url, env = {}, stdin = '', cwd = tmpdir(), programPath = PROGRAM }: SvcOptions = {},
): Promise<SvcResult> {
  const child = spawn(process.execPath, [programPath, ...args], {
    cwd,
    env: commandEnv(url, env),
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  // A command that reads no input may end before its stdin is written.
  child.stdin.on('error', () => {})
  if (stdin !== null) child.stdin.end(stdin)
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, stdout, stderr, lines: parseJsonLines(stdout) }
}

/** Starts a shell command line in which `"$0" "$1"` is the program. */
export const spawnShell = (line: string, url: string) =>
  spawn('bash', ['-c', line, process.execPath, PROGRAM], {
    cwd: tmpdir(),
    env: commandEnv(url),
  })

/** Runs the program on a pseudo terminal. `dialogue` alternates expected output and the text to type after it. */
export async function runOnTerminal(
  args: string[],
  dialogue: string[],
  { url, env = {} }: SvcOptions,
): Promise<{ code: number | null; shown: string }> {
  const driver = fileURLToPath(new URL('terminal-driver.py', import.meta.url))
  const child = spawn('python3', [driver, ...dialogue, '--', process.execPath, PROGRAM, ...args], {
    cwd: tmpdir(),
    env: commandEnv(url, { TERM: 'xterm', ...env }),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let shown = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (shown += text))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, shown }
}

// oxlint-disable-next-line typescript/no-explicit-any
export function parseJsonLines(text: string): any[] {
  try {
    return text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
  } catch {
    return []
  }
}

export function temporaryFolder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'svc-cli-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}
