import { abortAll, type Running, serveCell } from './cell.ts'
import { keepHeapSmall } from './heap.ts'
import { drained, type LineWriter } from './lines.ts'

/**
 * What runs inside the sandbox, bundled into one file. Without arguments it is a cell for any number of runs; with
 * `--keep` it looks after one custom agent.
 */
function main(words: string[]): void {
  const writer: LineWriter = { stream: process.stdout, waiting: [] }
  // Nobody is left to read the lines: there is nothing more to do for anyone.
  process.stdout.on('error', () => process.exit(1))
  if (words[0] === '--keep') {
    void keepAndExit(words.slice(1), writer)
    return
  }
  const runsFolder = `${process.env['TMPDIR'] ?? process.cwd()}/runs`
  const running = new Map<string, Running>()
  // Programs that runs have started lead groups of their own, so they must be ended from here.
  process.once('SIGTERM', () => {
    abortAll({ running })
    process.exit(143)
  })
  serveCell({ writer, running, runsFolder, log: process.stderr }, process.stdin)
}

/** The input stays open for as long as the service lives, so this process has to end itself. */
async function keepAndExit(words: string[], writer: LineWriter): Promise<void> {
  const { customFrom, keep } = await import('./keeper.ts')
  keepHeapSmall()
  await keep(customFrom(words), process.stdin, writer, process.stderr)
  await drained(writer)
  process.exit(0)
}

main(process.argv.slice(2))
