import { serveWorkflowCalls } from './serve-calls.ts'

/** The program that runs inside a workflow cell. It receives the workflows of one wedge and executes calls to them. */
const output = process.stdout
// Without a reader for the replies there is nothing left to do.
output.on('error', () => process.exit(1))
process.stdin.on('end', () => process.exit(0))
process.env['TZ'] = 'UTC'
serveWorkflowCalls(
  { output, nonce: null, sources: { files: new Map(), compiled: new Map() }, current: null, next: null },
  process.stdin,
)
