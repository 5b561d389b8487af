import { abortAllRuns, type RunningBrief, serveHarnessCell } from './harness-cell.ts'
import { drainLines, type LineWriter } from './line-writer.ts'

/**
 * The program inside the sandbox, bundled into one file. Without arguments it is a cell for any number of runs; with
 * `--custom-agent` it runs one custom agent.
 */
function main(args: string[]): void {
  const writer: LineWriter = { stream: process.stdout, waiting: [] }
  // Without a reader for the lines there is nothing left to do.
  process.stdout.on('error', () => process.exit(1))
  if (args[0] === '--custom-agent') {
    void runCustomAgentAndExit(args.slice(1), writer)
    return
  }
  const runsFolder = `${process.env['TMPDIR'] ?? process.cwd()}/runs`
  const running = new Map<string, RunningBrief>()
  // Programs of the runs have their own process groups, so they must be ended from here.
  process.once('SIGTERM', () => {
    abortAllRuns({ running })
    process.exit(143)
  })
  serveHarnessCell({ writer, running, runsFolder, log: process.stderr }, process.stdin)
}

/** The input stays open as long as the service runs, so this process must exit by itself. */
async function runCustomAgentAndExit(args: string[], writer: LineWriter): Promise<void> {
  const { parseCustomAgentArguments, runCustomAgent } = await import('./custom-agent.ts')
  await runCustomAgent(parseCustomAgentArguments(args), process.stdin, writer, process.stderr)
  await drainLines(writer)
  process.exit(0)
}

main(process.argv.slice(2))
