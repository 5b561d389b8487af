// Writes THIRD-PARTY-LICENSES: the packages in the bundles of dist/ and their licenses.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const file = join(root, 'THIRD-PARTY-LICENSES')

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(file, licenses())

/** The text of the file, from the packages that are imported and installed now. */
export function licenses() {
  const found = withDependencies(importedPackages()).toSorted((a, b) => (a.label < b.label ? -1 : 1))
  /** @type {Map<string, string[]>} */
  const byTerms = new Map()
  for (const { label, terms } of found) byTerms.set(terms, [...(byTerms.get(terms) ?? []), label])
  const parts = [...byTerms].map(([terms, names]) => `${names.join('\n')}\n\n${terms}\n`)
  const head = 'Agent Work Service contains code of the packages below, under the terms that follow their names.\n'
  return [head, ...parts].join(`\n${'-'.repeat(80)}\n\n`)
}

/** The packages that the code of the service and of the console imports. */
function importedPackages() {
  const sources = ['src', 'console'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(tsx?|css)$/.test(name))
      .map((name) => readFileSync(join(root, folder, name), 'utf8')),
  )
  const named = /(?:from|import|@import)\s*\(?\s*['"]((?:@[\w-]+\/)?[\w-][\w.-]*)[^'"]*['"]/g
  const names = sources.flatMap((source) => [...source.matchAll(named)].map(([, name = '']) => name))
  return [...new Set(names)].filter((name) => existsSync(join(root, 'node_modules', name, 'package.json')))
}

/**
 * These packages and all their dependencies, in any node_modules folder.
 * @param {string[]} names
 */
function withDependencies(names) {
  /** @type {Map<string, ReturnType<typeof describePackage>>} */
  const found = new Map()
  const waiting = names.map((name) => ({ name, from: root }))
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const folder = folderOf(next.name, next.from)
    if (!folder || found.has(folder)) continue
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    found.set(folder, describePackage(manifest, folder))
    for (const name of Object.keys(manifest.dependencies ?? {})) waiting.push({ name, from: folder })
  }
  return [...found.values()]
}

/**
 * @param {string} name
 * @param {string} from
 * @returns {string | null}
 */
function folderOf(name, from) {
  const folder = join(from, 'node_modules', name)
  if (existsSync(join(folder, 'package.json'))) return folder
  return from === root || from === dirname(from) ? null : folderOf(name, dirname(from))
}

/**
 * @param {{ name: string, version: string, license?: string, author?: string | { name: string } }} manifest
 * @param {string} folder
 */
function describePackage({ name, version, license = 'see below', author }, folder) {
  const licenseFile = readdirSync(folder).find((entry) => /^(licen[cs]e|copying)(\.|-mit|$)/i.test(entry))
  const holder = typeof author === 'object' ? author.name : author
  const terms = licenseFile
    ? readFileSync(join(folder, licenseFile), 'utf8')
    : `Copyright ${holder ?? `the authors of ${name}`}`
  return { label: `${name} ${version} (${license})`, terms: terms.replaceAll('\r\n', '\n').trim() }
}
