import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { ROOT } from '../docs/pages.ts'
import { linkFolders } from './run-guide.ts'

const FOLDER = import.meta.dirname

interface LockedPackage {
  version?: string
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
}

/** Installs the packages of all guides, unless they are installed. `npm test` has done it before. */
export async function installNpmPackages(): Promise<void> {
  await promisify(execFile)(process.execPath, [join(ROOT, 'scripts/install.mjs'), FOLDER])
}

/** Puts the packages that the package.json of an agent names, and what those need, into the folder of the agent. */
export function linkNpmPackages(agentFolder: string): void {
  const wanted: LockedPackage = JSON.parse(readFileSync(join(agentFolder, 'package.json'), 'utf8'))
  const { packages: locked }: { packages: Record<string, LockedPackage> } = JSON.parse(
    readFileSync(join(FOLDER, 'package-lock.json'), 'utf8'),
  )
  for (const [name, version] of Object.entries(wanted.dependencies ?? {}))
    expect([name, locked[`node_modules/${name}`]?.version]).toEqual([name, version])
  const found = new Set<string>()
  const add = (from: string, { dependencies, optionalDependencies, peerDependencies }: LockedPackage) => {
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
      const path = findPackage(locked, from, name)
      if (path === null || found.has(path)) continue
      found.add(path)
      add(path, locked[path] ?? {})
    }
  }
  add('', wanted)
  // A nested package comes with the folder of the package around it.
  const outer = [...found].filter((path) => path.lastIndexOf('node_modules/') === 0)
  linkFolders(FOLDER, outer, agentFolder)
}

/** Where Node finds a package: beside the importer, or in a folder above. Null for an optional package that is not installed. */
function findPackage(locked: Record<string, LockedPackage>, from: string, name: string): string | null {
  const path = `${from === '' ? '' : `${from}/`}node_modules/${name}`
  if (locked[path]) return path
  return from === '' ? null : findPackage(locked, from.slice(0, Math.max(0, from.lastIndexOf('/node_modules/'))), name)
}
