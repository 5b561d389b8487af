import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { errorMessage } from '../../../platform/base/error-message.ts'
import { isJsonObject } from '../../../platform/base/json.ts'
import { textField, tryParseJsonObject } from '../../../platform/base/json-fields.ts'
import { EXAMPLE_MODEL_SETTINGS } from '../../../platform/contract/example-models.ts'
import { usageError } from '../shell/failure.ts'
import { ENV_FILE_NAME } from '../shell/env-file.ts'
import { starterWedgeFiles } from '../wedge/starter-wedge.ts'

const PROJECT_WEDGE = 'shop-helper'
const PACKAGE_NAME = 'agent-work-service'

/** Creates a project in a new or empty folder and returns the paths of its files. */
export function createProjectFolder(dir: string, packageRoot: string, secretKey: string): string[] {
  const folder = resolve(dir)
  requireEmptyFolder(dir, folder)
  const files = projectFiles(folder, resolve(packageRoot), secretKey)
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    // Fails if the file exists, so that a key in use is never replaced.
    writeFileSync(join(folder, path), text, { flag: 'wx', mode: path === ENV_FILE_NAME ? 0o600 : 0o644 })
  }
  return Object.keys(files)
}

/** A folder with nothing but its git repository is empty. */
function requireEmptyFolder(dir: string, folder: string): void {
  try {
    mkdirSync(folder, { recursive: true })
    if (readdirSync(folder).every((name) => name === '.git')) return
  } catch (error) {
    throw usageError(`cannot use the folder '${dir}' (${errorMessage(error)})`)
  }
  throw usageError(
    `the folder '${dir}' is not empty`,
    (svc) => `name a new folder; \`${svc} init\` without a folder adds a key and the examples to the current one`,
  )
}

/** `.gitignore` comes first: `.env` is never in a folder from which it could be committed. */
const projectFiles = (folder: string, packageRoot: string, secretKey: string): Record<string, string> => ({
  '.gitignore': `node_modules/\n${ENV_FILE_NAME}\n.svc/\n`,
  [ENV_FILE_NAME]: envFile(secretKey),
  'package.json': `${JSON.stringify(projectManifest(folder, packageRoot), null, 2)}\n`,
  'README.md': readme(basename(folder)),
  ...Object.fromEntries(
    Object.entries(starterWedgeFiles(PROJECT_WEDGE)).map(([path, text]) => [`wedges/${PROJECT_WEDGE}/${path}`, text]),
  ),
})

const envFile = (
  secretKey: string,
) => `# The settings of this project. The service and its command line read this file; variables of the environment come first.

# Encrypts stored secrets. Keep a copy in another place than your backups: without it, stored secrets are lost.
SVC_SECRET_KEY=${secretKey}

${EXAMPLE_MODEL_SETTINGS}
`

const projectManifest = (folder: string, packageRoot: string) => ({
  name: toPackageName(basename(folder)),
  private: true,
  scripts: { start: 'svc serve' },
  dependencies: { [PACKAGE_NAME]: findDependency(folder, packageRoot) },
})

const toPackageName = (name: string) =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '') || 'agent-project'

/** Where npm finds this program: the clone, the file from which it was installed, or the registry. */
function findDependency(folder: string, packageRoot: string): string {
  const modules = dirname(packageRoot)
  const toFile = (path: string) => `file:${relative(folder, path)}`
  if (basename(modules) !== 'node_modules') return toFile(packageRoot)
  const { packages } = readJsonObject(join(modules, '.package-lock.json'))
  const locked = isJsonObject(packages) ? packages[`node_modules/${PACKAGE_NAME}`] : undefined
  const resolved = isJsonObject(locked) ? locked.resolved : undefined
  if (typeof resolved === 'string' && resolved.startsWith('file:'))
    return toFile(resolve(dirname(modules), resolved.slice('file:'.length)))
  return `^${textField(readJsonObject(join(packageRoot, 'package.json')), 'version')}`
}

function readJsonObject(file: string) {
  try {
    return tryParseJsonObject(readFileSync(file, 'utf8')) ?? {}
  } catch {
    return {}
  }
}

const readme = (name: string) => `# ${name}

Agents do work in this project with Agent Work Service, and people approve it.

Start the service. The first start prints the founder key and its address:

    npm install
    npx svc serve

Run a task in a second terminal, and type \`a\` to approve the answer:

    export SVC_KEY=svc_key_...      # the founder key
    npx svc run ${PROJECT_WEDGE} answer --input wedges/${PROJECT_WEDGE}/rehearsals/answer.input.json

- \`wedges/${PROJECT_WEDGE}\` is an example of a kind of work. \`npx svc wedge new NAME\` creates another one.
- \`.env\` has the settings and the key that encrypts stored secrets. It is not in git: keep a copy of the key.
- \`node_modules/${PACKAGE_NAME}/docs\` has the documentation, \`npx svc help\` the commands.
`
