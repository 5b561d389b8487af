import { makeGlobalsDeterministic } from './deterministic-globals.ts'
import { serveWorkflowCalls } from './serve-calls.ts'

/** The program that runs inside a workflow cell. It receives the workflows of one wedge and executes calls to them. */
const output = process.stdout
// Without a reader for the replies there is nothing left to do.
output.on('error', () => process.exit(1))
process.stdin.on('end', () => process.exit(0))
serveWorkflowCalls(
  { output, folder: `${process.cwd()}/workflows`, reseed: makeGlobalsDeterministic(), nonce: null, current: null },
  process.stdin,
)
