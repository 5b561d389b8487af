// Runs guides of docs/frameworks with packages that are installed outside of this repository, for the release check.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { startVitest } from 'vitest/node'

const root = fileURLToPath(new URL('..', import.meta.url))

/** The packages of these guides are too large for `npm test`. */
export const LARGE_GUIDES = ['claude-agent-sdk', 'mastra']

/** The oldest Node that the packages of a guide allow, where it is newer than that of the service. */
const OLDEST_NODE = new Map([['mastra', 22]])

/** @param {string} guide */
export function runsOnThisNode(guide) {
  const oldest = OLDEST_NODE.get(guide) ?? 20
  if (Number.parseInt(process.versions.node, 10) >= oldest) return true
  process.stderr.write(`svc: the guide ${guide} is left out, because its packages need Node ${oldest}\n`)
  return false
}

/**
 * The packages that a guide names, with their versions.
 * @param {string} guide
 * @returns {Record<string, string>}
 */
export function readGuidePackages(guide) {
  const page = readFileSync(`${root}docs/frameworks/${guide}.md`, 'utf8')
  const [, text] = /`refund-desk\/agent\/package\.json`:\n\n```json\n([\s\S]*?)^```$/m.exec(page) ?? []
  if (text === undefined) throw new Error(`docs/frameworks/${guide}.md has no package.json`)
  return JSON.parse(text).dependencies
}

/**
 * Follows each guide with the packages in its folder. A failure is in the exit code of the process.
 * @param {Record<string, string>} folders
 */
export async function runGuides(folders) {
  if (Object.keys(folders).length === 0) return
  process.env['GUIDE_FOLDERS'] = JSON.stringify(folders)
  const vitest = await startVitest('test', [], { root, include: ['test/frameworks/release-guides.ts'], retry: 1 })
  await vitest.close()
}
