import { mkdirSync, readdirSync, readFileSync, readSync, statSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import {
  MAX_PROGRAM_FILES,
  MAX_PROGRAM_FILES_MB,
  type ProgramEnd,
  type ProgramFiles,
  type ProgramSetup,
  SETUP_LENGTH_CHARACTERS,
} from '../../platform/contract/program-setup.ts'

/**
 * Loaded before an MCP server of a wedge whose connection has `config.env`. It sets the variables, restores the files of the
 * server, and writes them to the service when the input ends.
 */
const LAST_WRITES_MS = 500
const INPUT = 0
const OUTPUT = 1

const folder = join(tmpdir(), 'data')
const { env, files }: ProgramSetup = JSON.parse(readBytes(Number(readBytes(SETUP_LENGTH_CHARACTERS + 1)) + 1))
mkdirSync(folder, { recursive: true })
for (const [path, base64] of Object.entries(files)) {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), base64, 'base64')
}
for (const [name, value] of Object.entries(env)) process.env[name] = value.replaceAll('$TMP', folder)
// What the server still writes after its last answer is finished first; a server with a timer would never end by itself.
process.stdin.on('end', () => setTimeout(() => process.exit(), LAST_WRITES_MS).unref())
process.once('exit', () => {
  const end: ProgramEnd = { program_files: collectFiles() }
  writeText(`\n${JSON.stringify(end)}\n`)
})

function collectFiles(): ProgramFiles | null {
  const found: ProgramFiles = {}
  let bytes = 0
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const file = join(entry.parentPath, entry.name)
    bytes += statSync(file).size
    if (bytes > MAX_PROGRAM_FILES_MB * 1024 * 1024 || Object.keys(found).length >= MAX_PROGRAM_FILES) return null
    found[relative(folder, file)] = readFileSync(file, 'base64')
  }
  return found
}

/** Reads no byte more: the rest of the input belongs to the server. */
function readBytes(length: number): string {
  const bytes = Buffer.alloc(length)
  for (let at = 0; at < length; ) {
    const count = untilReady(() => readSync(INPUT, bytes, at, length - at, null))
    if (count === 0) process.exit(1)
    at += count
  }
  return bytes.toString()
}

function writeText(text: string): void {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; ) at += untilReady(() => writeSync(OUTPUT, bytes, at))
}

/** A pipe that does not block says that it is not ready. */
function untilReady(call: () => number): number {
  for (;;) {
    try {
      return call()
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1)
    }
  }
}
