import { seal } from './seal.ts'
import { serve } from './serve.ts'

/** The program of a process for workflows, bundled into one file: it gets the sources of one wedge and runs them. */
const output = process.stdout
// Nobody is left to read the answers: there is nothing more to do for anyone.
output.on('error', () => process.exit(1))
process.stdin.on('end', () => process.exit(0))
serve({ output, folder: `${process.cwd()}/workflows`, reseed: seal(), nonce: null, current: null }, process.stdin)
