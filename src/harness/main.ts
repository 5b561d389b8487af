import { abortAllRuns, type RunningBrief, serveHarnessCell } from './harness-cell.ts'
import { drainLines, type LineWriter } from './line-writer.ts'

/**
 * What runs inside the sandbox, bundled into one file. Without arguments it is a cell for any number of runs; with
 * `--keep` it looks after one custom agent.
 */
function main(words: string[]): void {
  const writer: LineWriter = { stream: process.stdout, waiting: [] }
  // Nobody is left to read the lines: there is nothing more to do for anyone.
  process.stdout.on('error', () => process.exit(1))
  if (words[0] === '--keep') {
    void runCustomAgentAndExit(words.slice(1), writer)
    return
  }
  const runsFolder = `${process.env['TMPDIR'] ?? process.cwd()}/runs`
  const running = new Map<string, RunningBrief>()
  // Programs that runs have started lead groups of their own, so they must be ended from here.
  process.once('SIGTERM', () => {
    abortAllRuns({ running })
    process.exit(143)
  })
  serveHarnessCell({ writer, running, runsFolder, log: process.stderr }, process.stdin)
}

/** The input stays open for as long as the service lives, so this process has to end itself. */
async function runCustomAgentAndExit(words: string[], writer: LineWriter): Promise<void> {
  const { parseCustomAgentArguments: customFrom, runCustomAgent: keep } = await import('./custom-agent.ts')
  await keep(customFrom(words), process.stdin, writer, process.stderr)
  await drainLines(writer)
  process.exit(0)
}

main(process.argv.slice(2))
