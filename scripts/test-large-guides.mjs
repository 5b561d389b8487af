// `npm run test:large-guides`: follows the guides whose packages are too large for `npm test`, with the versions that the
// pages name.
//   npm run test:large-guides -- mastra     only this guide
import { spawnSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { LARGE_GUIDES, readGuidePackages, runGuides, runsOnThisNode } from './release-guides.mjs'

const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'agent-work-service')
const named = process.argv.slice(2)
const guides = (named.length > 0 ? named : LARGE_GUIDES).filter(runsOnThisNode)
await runGuides(Object.fromEntries(guides.map((guide) => [guide, install(guide)])))

/**
 * Returns the folder of the packages, which later runs use again.
 * @param {string} guide
 */
function install(guide) {
  const manifest = JSON.stringify({ private: true, dependencies: readGuidePackages(guide) })
  const folder = join(cache, `${guide}-${hash('sha256', manifest).slice(0, 12)}`)
  if (existsSync(join(folder, 'node_modules/.package-lock.json'))) return folder
  process.stderr.write(`svc: installing the packages of the guide ${guide} ...\n`)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), manifest)
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  const npm = spawnSync('npm', ['install', ...options], { cwd: folder, stdio: 'inherit' })
  if (npm.status !== 0) process.exit(1)
  return folder
}
