import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { CellExit, CellSpec, SandboxDriver } from './driver.ts'
import { DEFAULT_CELL_LIMITS } from './cell-limits.ts'
import { cellTemporaryFolder } from './staging.ts'

/** Long enough for a busy machine; a cell that takes longer to start is not usable. */
const PROBE_TIMEOUT_MS = 15_000

/**
 * Starts cells of each profile and lets the sealed one try what it must not be able to do. Throws if one of these
 * attempts succeeds or the cell does not start; returns warnings about features that do not work.
 */
export async function probeDriver(driver: SandboxDriver): Promise<string[]> {
  const agentDir = mkdtempSync(join(cellTemporaryFolder(), 'svc-probe-'))
  chmodSync(agentDir, 0o755)
  try {
    const common = { agentDir, socket: null, limits: DEFAULT_CELL_LIMITS }
    const [sealed, workshop, harness] = await Promise.all([
      runProbe(driver, { ...common, profile: 'sealed', command: ['node', '-e', ATTEMPTS_PROGRAM] }),
      runProbe(driver, { ...common, profile: 'workshop', command: ['/bin/sh', '-c', 'echo []'] }),
      // Node starts in another way in a workshop; its version is the cheapest output.
      runProbe(driver, { ...common, profile: 'workshop', command: ['node', '--version'] }),
    ])
    const problem = probeProblem(sealed)
    if (problem !== null) throw new Error(problem)
    const broken = probeProblem(workshop) ?? probeProblem(harness, process.version)
    return broken === null
      ? []
      : [`cells that run other programs (the shell tool, custom agents) do not work: ${broken}`]
  } finally {
    rmSync(agentDir, { recursive: true, force: true })
  }
}

interface ProbeOutcome {
  lines: string[]
  exit: CellExit
}

async function runProbe(driver: SandboxDriver, spec: CellSpec): Promise<ProbeOutcome> {
  const cell = driver.start(spec)
  const lines: string[] = []
  cell.onLine((line) => void lines.push(line))
  const timer = setTimeout(() => void cell.kill(), PROBE_TIMEOUT_MS)
  const exit = await cell.exited
  clearTimeout(timer)
  return { lines, exit }
}

function probeProblem({ lines, exit }: ProbeOutcome, expected = '[]'): string | null {
  const [report] = lines
  if (report === expected && exit.code === 0) return null
  if (report !== undefined && report !== expected) return `a process in it could ${report}`
  return `a process in it ended with ${exit.signal ?? exit.code}: ${exit.stderr.trim() || 'it wrote nothing to stderr'}`
}

/** Runs inside the cell. It is a string because the service is one bundled file. */
const ATTEMPTS_PROGRAM = `
const done = []
const attempt = (what, action) => { try { action(); done.push(what) } catch {} }
const fs = require('node:fs')
attempt('read /etc/passwd', () => fs.readFileSync('/etc/passwd'))
attempt('look into /proc', () => fs.readdirSync('/proc'))
attempt('write to its own root', () => fs.writeFileSync('/agent/x', ''))
attempt('start a program', () => { const { error } = require('node:child_process').spawnSync(process.execPath, ['-v']); if (error) throw error })
if (process.pid !== 1) done.push('see other processes')
const extra = Object.keys(process.env).filter((name) => !['HOME', 'LANG', 'TZ', 'PWD'].includes(name))
if (extra.length > 0) done.push('read the environment ' + extra)
const report = () => { console.log(done.length === 0 ? '[]' : done.join(', ')); process.exit(0) }
const tcp = require('node:net').connect(9, '127.0.0.1')
tcp.on('connect', () => { done.push('open a TCP connection'); report() })
tcp.on('error', (error) => { if (error.code !== 'EAFNOSUPPORT') done.push('make a network socket'); report() })
`
