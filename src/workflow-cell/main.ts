import { makeGlobalsDeterministic } from './deterministic-globals.ts'
import { serveWorkflowCalls } from './serve-calls.ts'

/** The program of a process for workflows, bundled into one file: it gets the sources of one wedge and runs them. */
const output = process.stdout
// Nobody is left to read the answers: there is nothing more to do for anyone.
output.on('error', () => process.exit(1))
process.stdin.on('end', () => process.exit(0))
serveWorkflowCalls(
  { output, folder: `${process.cwd()}/workflows`, reseed: makeGlobalsDeterministic(), nonce: null, current: null },
  process.stdin,
)
