// A part of `npm run test:frameworks`: follows the guides of npm packages with the versions that a plain `npm install` brings
// today. `npm test` follows them with the versions that the pages name.
//   node scripts/test-newest-guides.mjs mastra strands     only these guides
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installNewest } from './newest-packages.mjs'
import { readGuidePackages, runGuides } from './release-guides.mjs'

/** The version of the image. The newest packages may need a newer Node than the oldest that the service supports. */
const NODE = 24

const pages = fileURLToPath(new URL('../docs/frameworks/', import.meta.url))
if (process.versions.node.startsWith(`${NODE}.`)) await testNewest(process.argv.slice(2))
else process.stderr.write(`svc: the newest packages of the guides are tested on Node ${NODE} only\n`)

/** @param {string[]} named */
async function testNewest(named) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-newest-guides-'))
  const guides = named.length > 0 ? named : listGuides()
  const lines = guides.map((guide) => install(guide, join(folder, guide)))
  try {
    await runGuides(
      Object.fromEntries(
        lines.filter(({ isInstalled }) => isInstalled).map(({ guide }) => [guide, join(folder, guide)]),
      ),
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  for (const { guide, text } of lines) process.stderr.write(`svc: newest packages of ${guide}: ${text}\n`)
  if (named.length === 0)
    process.stderr.write(`svc: left out, because their packages are not from npm: ${listPythonGuides().join(', ')}\n`)
  if (lines.some(({ isInstalled }) => !isInstalled)) process.exitCode = 1
}

/** The guides with npm packages. */
function listGuides() {
  return listPages().filter((name) => readFileSync(join(pages, `${name}.md`), 'utf8').includes('agent/package.json`:'))
}

function listPythonGuides() {
  return listPages().filter((name) => name.includes('python'))
}

function listPages() {
  return readdirSync(pages).map((name) => name.replace(/\.md$/, ''))
}

/**
 * A guide whose packages npm cannot install fails the check after the others have run: a reader cannot follow it.
 * @param {string} guide
 * @param {string} folder
 */
function install(guide, folder) {
  try {
    const versions = installNewest(Object.keys(readGuidePackages(guide)), folder)
    const text = Object.entries(versions).map(([name, version]) => `${name} ${version}`)
    return { guide, isInstalled: true, text: text.join(', ') }
  } catch (error) {
    return { guide, isInstalled: false, text: `NOT TESTED: ${String(error)}` }
  }
}
