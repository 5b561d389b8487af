#!/usr/bin/env node
// The entry point of the package: `dist/svc.mjs`. It uses only features of old Node.js versions, so that it can report a
// version that is too old instead of failing with a syntax error.
import { createHash } from 'node:crypto'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cachedDataVersionTag, setFlagsFromString } from 'node:v8'
import { Script } from 'node:vm'

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(
    `svc: Node.js ${process.versions.node} is too old; install Node 24 LTS (20.19 is the oldest that works).`,
  )
  process.exit(1)
}

// A task runs through thousands of functions, each of them a few times, so with V8's own limits most of them stay slow for
// thousands of tasks (see "Earlier optimization" in docs/decisions.md). Newer versions of V8 have another name for the limit.
const COMPILER_FLAGS = [major < 22 ? '--interrupt-budget=8000' : '--invocation-count-for-turbofan=1000']
// A garbage collection that favors memory drops the compiled code of all objects that do not exist at that moment. V8 does
// one after a few seconds without work, and each start after a break would be slow again. Other versions print an error.
if (major === 24 || major === 25) COMPILER_FLAGS.push('--no-memory-reducer-favors-memory')

const program = fileURLToPath(new URL('service.cjs', import.meta.url))
const source = readFileSync(program, 'utf8')
// V8 hardly checks a code cache and crashes on one of another processor, which a container that shares this folder may
// have written. So the file name contains a hash of everything that the cache depends on.
const cacheKey = [source, process.version, process.platform, process.arch, cachedDataVersionTag()].join('\0')
const cacheFile = join(
  dirname(program),
  `.compiled-${createHash('sha256').update(cacheKey).digest('hex').slice(0, 16)}`,
)
const script = new Script(`(function (require, __filename) {${source}\n})`, {
  filename: program,
  cachedData: readCodeCache(),
})
script.runInThisContext()(createRequire(program), program)
if (process.argv[2] === 'serve') setTimeout(tuneCompiler, 2000).unref()

/**
 * Two seconds after the start, V8 has compiled the code that a start needs. The cache saves a quarter of the start time.
 * It is written before the flags change, because V8 rejects a cache that was made with other flags.
 */
function tuneCompiler() {
  if (script.cachedDataRejected !== false) writeCodeCache()
  for (const flag of COMPILER_FLAGS) setFlagsFromString(flag)
}

function readCodeCache() {
  try {
    return readFileSync(cacheFile)
  } catch {
    return undefined
  }
}

function writeCodeCache() {
  try {
    writeFileSync(`${cacheFile}.${process.pid}`, script.createCachedData())
    renameSync(`${cacheFile}.${process.pid}`, cacheFile)
  } catch {
    // If the folder is not writable, every start compiles the code again.
  }
}
