import { chmodSync, mkdtempSync, readlinkSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { CellExit, CellSpec, SandboxDriver, SandboxKind } from './driver.ts'
import { DEFAULT_CELL_LIMITS } from './cgroup/cell-limits.ts'
import { cellTemporaryFolder } from './staging.ts'

/** Long enough for a busy machine; a cell that takes longer to start is not usable. */
const PROBE_TIMEOUT_MS = 15_000

/** What does not work on this machine, although the sandbox does. */
interface ProbeResult {
  warnings: string[]
  canLoopback: boolean
}

/**
 * Starts cells of each profile and lets them try what they must not be able to do. Throws if one of these attempts
 * succeeds or the sealed cell does not start.
 */
export async function probeDriver(driver: SandboxDriver): Promise<ProbeResult> {
  const agentDir = mkdtempSync(join(cellTemporaryFolder(), 'svc-probe-'))
  chmodSync(agentDir, 0o755)
  try {
    const common = { agentDir, socket: null, limits: DEFAULT_CELL_LIMITS }
    const node = { ...common, profile: 'workshop' } as const
    const [sealed, workshop, loopback] = await Promise.all([
      runProbe(driver, { ...common, profile: 'sealed', command: ['node', '-e', ATTEMPTS_PROGRAM] }),
      runProbe(driver, { ...common, profile: 'workshop', command: ['/bin/sh', '-c', 'echo []; ls / > /dev/null'] }),
      runProbe(driver, { ...node, hasLoopback: true, command: ['node', '-e', loopbackProgram(driver.kind)] }),
    ])
    const problem = probeProblem(sealed)
    if (problem !== null) throw new Error(problem)
    const noLoopback = probeProblem(loopback) ?? networkProblem(loopback)
    // Node starts in another way in a workshop; its version is the cheapest output.
    const harness = noLoopback === null ? null : await runProbe(driver, { ...node, command: ['node', '--version'] })
    const warnings = [
      programsWarning(workshop, harness),
      noLoopback && `custom agents get no loopback port and no ${LOOPBACK_VARIABLES}: ${noLoopback}`,
    ]
    return { warnings: warnings.filter((warning) => warning !== null), canLoopback: noLoopback === null }
  } finally {
    rmSync(agentDir, { recursive: true, force: true })
  }
}

function programsWarning(workshop: ProbeOutcome, harness: ProbeOutcome | null): string | null {
  const broken = probeProblem(workshop) ?? (harness && probeProblem(harness, process.version))
  if (broken === null) return null
  // The shell worked, so that only the second program did not.
  if (workshop.lines[0] === '[]' && workshop.exit.code !== 0)
    return `some programs do not work in cells: ${workshop.exit.stderr.trim() || broken}`
  return `cells that run other programs (the shell tool, custom agents) do not work: ${broken}`
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

const LOOPBACK_VARIABLES = 'SVC_BASE_URL, ANTHROPIC_BASE_URL or OPENAI_BASE_URL'

/** The second line of the report is the network namespace of the cell. */
function networkProblem({ lines: [, network] }: ProbeOutcome): string | null {
  const isOwn = network?.startsWith('net:') && network !== readlinkSync('/proc/self/ns/net')
  return isOwn ? null : 'its cell has no network namespace of its own'
}

/** Runs inside the cell. It is a string because the service is one bundled file. */
const ATTEMPTS_PROGRAM = `
const done = []
const attempt = (what, action) => { try { action(); done.push(what) } catch {} }
const fs = require('node:fs')
attempt('read /etc/passwd', () => fs.readFileSync('/etc/passwd'))
attempt('look into /proc', () => { if (fs.readdirSync('/proc').length === 0) throw new Error('it is empty') })
attempt('write to its own root', () => fs.writeFileSync('/agent/x', ''))
attempt('start a program', () => { const { error } = require('node:child_process').spawnSync(process.execPath, ['-v']); if (error) throw error })
if (process.pid !== 1) done.push('see other processes')
const extra = Object.keys(process.env).filter((name) => !['HOME', 'LANG', 'TZ', 'PWD'].includes(name))
if (extra.length > 0) done.push('read the environment ' + extra)
const report = () => { console.log(done.length === 0 ? '[]' : done.join(', ')); process.exit(0) }
const tcp = require('node:net').connect(9, '127.0.0.1')
tcp.on('connect', () => { done.push('open a TCP connection'); report() })
tcp.on('error', (error) => { if (!['EAFNOSUPPORT', 'EPERM'].includes(error.code)) done.push('make a network socket'); report() })
`

/** A cell with a loopback port reaches itself and nothing else. gVisor has its own words for a missing route. */
const loopbackProgram = (kind: SandboxKind) => `
const NO_ROUTE = ${kind === 'runsc' ? "['ENETUNREACH', 'EHOSTUNREACH']" : "['ENETUNREACH']"}
const done = []
const net = require('node:net')
const server = net.createServer((socket) => socket.end('x')).listen(0, '127.0.0.1', () => {
  const own = net.connect(server.address().port, '127.0.0.1')
  own.on('data', connectOutside)
  own.on('error', (error) => { done.push('not use its own port: ' + error.code); report() })
})
server.on('error', (error) => { done.push('not listen: ' + error.code); report() })
function connectOutside() {
  const outside = net.connect(80, '169.254.169.254')
  outside.on('connect', () => { done.push('connect to another machine'); report() })
  outside.on('error', (error) => { if (!NO_ROUTE.includes(error.code)) done.push('look for a route'); sendDatagram() })
}
function sendDatagram() {
  const socket = require('node:dgram').createSocket('udp4')
  socket.on('error', report)
  socket.bind(0, '127.0.0.1', () => { done.push('send datagrams'); report() })
}
function report() {
  console.log(done.length === 0 ? '[]' : done.join(', '))
  console.log(require('node:fs').readlinkSync('/proc/self/ns/net'))
  process.exit(0)
}
`
