import { serveCell } from './cell.ts'
import { customFrom, keep } from './keeper.ts'

/**
 * What runs inside the sandbox, bundled into one file. Without arguments it is a cell for any number of runs; with
 * `--keep` it looks after one custom agent.
 */
function main(words: string[]): void {
  const writer = { stream: process.stdout, waiting: [] }
  // Nobody is left to read the lines: there is nothing more to do for anyone.
  process.stdout.on('error', () => process.exit(1))
  if (words[0] === '--keep') {
    void keep(customFrom(words.slice(1)), process.stdin, writer, process.stderr).then(() => process.exit(0))
    return
  }
  const runsFolder = `${process.env['TMPDIR'] ?? '/tmp'}/runs`
  serveCell({ writer, running: new Map(), agents: new Map(), runsFolder, log: process.stderr }, process.stdin)
}

main(process.argv.slice(2))
