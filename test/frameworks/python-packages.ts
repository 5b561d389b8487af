import { execFile } from 'node:child_process'
import { hash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { pythonWithVenv } from '../../scripts/machine.mjs'
import { PYTHON_CLIENT_FILE } from '../../scripts/api-types.ts'
import { page, ROOT } from '../docs/pages.ts'
import { guideFiles, linkFolders } from './run-guide.ts'

const CONSTRAINTS = join(import.meta.dirname, 'constraints.txt')
const PIP_INSTALL = ['install', '--quiet', '--disable-pip-version-check', '--retries', '1', '-c', CONSTRAINTS]
const run = promisify(execFile)

/** The packages of these guides are not in every package index. Their pages say so. */
const MAY_BE_MISSING = ['openai-agents-python', 'langgraph-python']

/**
 * Installs the packages that a guide names into a virtual environment that later runs use again. Returns null, or why the
 * test of a guide whose packages may be missing must be skipped. For every other guide that is an error.
 */
export async function installPythonPackages(
  guide: string,
  requirements = guideFiles(page(`docs/frameworks/${guide}.md`))['refund-desk/agent/requirements.txt'],
): Promise<string | null> {
  const problem = requirements === undefined ? null : await install(requirements)
  if (problem !== null && !MAY_BE_MISSING.includes(guide)) throw new Error(problem)
  return problem
}

/** Returns why the packages cannot be installed, or null. */
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
    // pip prints the same if the index cannot be reached. Anything else, such as versions that do not fit together, is a mistake in the guide.
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
