import { execFile } from 'node:child_process'
import { hash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { pythonWithVenv } from '../../scripts/machine.mjs'
import { PYTHON_CLIENT_FILE } from '../../scripts/client-types.ts'
import { page, ROOT } from '../docs/pages.ts'
import { guideFiles, linkFolders } from './run-guide.ts'

const CONSTRAINTS = join(import.meta.dirname, 'constraints.txt')
const PIP_INSTALL = ['install', '--quiet', '--disable-pip-version-check', '--retries', '1', '-c', CONSTRAINTS]
const run = promisify(execFile)

/**
 * Installs the packages that a guide names into a virtual environment that later runs use again. Returns why they cannot
 * be installed, or null: some package indexes do not have all of them.
 */
export async function installPythonPackages(guide: string): Promise<string | null> {
  const requirements = guideFiles(page(`docs/frameworks/${guide}.md`))['refund-desk/agent/requirements.txt']
  return requirements === undefined ? null : install(requirements)
}

async function install(requirements: string): Promise<string | null> {
  const folder = cacheFolder(requirements)
  if (existsSync(folder)) return null
  const python = pythonWithVenv()
  if (python === null) return 'this machine has no Python with venv that the sandbox shows'
  const partial = `${folder}.partial`
  rmSync(partial, { recursive: true, force: true })
  mkdirSync(partial, { recursive: true })
  await run(python, ['-m', 'venv', join(partial, '.venv')])
  const names = requirements.trim().split('\n')
  try {
    await run(join(partial, '.venv/bin/pip'), [...PIP_INSTALL, ...names])
  } catch (error) {
    // Anything else, such as versions that do not fit together, is a mistake in the guide.
    const reason = /^ERROR: (No matching distribution found for .*)$/m.exec(String(error))
    rmSync(partial, { recursive: true })
    if (!reason) throw error
    return `pip cannot install ${names.join(' ')}: ${reason[1]}`
  }
  renameSync(partial, folder)
  return null
}

/** Puts the virtual environment of the requirements, and the client of the service, into the folder of an agent. */
export function linkPythonPackages(agentFolder: string): void {
  copyFileSync(PYTHON_CLIENT_FILE, join(agentFolder, basename(PYTHON_CLIENT_FILE)))
  const requirements = join(agentFolder, 'requirements.txt')
  if (existsSync(requirements)) linkFolders(cacheFolder(readFileSync(requirements, 'utf8')), ['.venv'], agentFolder)
}

const cacheFolder = (requirements: string): string =>
  join(ROOT, 'node_modules/.cache/python', hash('sha256', requirements + readFileSync(CONSTRAINTS, 'utf8')))
