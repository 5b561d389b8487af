#!/usr/bin/env node
// What people start: `dist/svc.mjs`. It asks for nothing that an old Node lacks, so that one is told what it needs instead
// of failing at the first word that it does not know.
import { createHash } from 'node:crypto'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cachedDataVersionTag } from 'node:v8'
import { Script } from 'node:vm'

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(
    `svc: Node.js ${process.versions.node} is too old; install Node 24 LTS (20.19 is the oldest that works).`,
  )
  process.exit(1)
}

const program = fileURLToPath(new URL('service.cjs', import.meta.url))
const source = readFileSync(program, 'utf8')
// V8 compares little more than the lengths of a program and of its compiled form, and dies of a form that was made for
// another processor, such as by a container that shares this folder. So the name says which is whose.
const whose = [source, process.version, process.platform, process.arch, cachedDataVersionTag()].join('\0')
const compiled = join(dirname(program), `.compiled-${createHash('sha256').update(whose).digest('hex').slice(0, 16)}`)
const script = new Script(`(function (require, __filename) {${source}\n})`, {
  filename: program,
  cachedData: kept(),
})
script.runInThisContext()(createRequire(program), program)
// A service that has come up has compiled what starting takes: kept, it is a quarter of the time to start.
if (process.argv[2] === 'serve' && script.cachedDataRejected !== false) setTimeout(keep, 2000).unref()

function kept() {
  try {
    return readFileSync(compiled)
  } catch {
    return undefined
  }
}

function keep() {
  try {
    writeFileSync(`${compiled}.${process.pid}`, script.createCachedData())
    renameSync(`${compiled}.${process.pid}`, compiled)
  } catch {
    // Where the folder cannot be written, every start compiles anew.
  }
}
