import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { dirname, relative } from 'node:path'
import { isJsonObject, type Json, type JsonObject } from '../../platform/base/json.ts'
import { badRequest } from '../../platform/base/problem.ts'
import { realpathInside } from '../../platform/base/real-path.ts'
import { isSlug } from '../../platform/base/text.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import type { WedgeProgram } from '../../platform/ctx/program-starter.ts'
import { digestFolder, isNodePackages, MAX_HASHED_BYTES, MAX_HASHED_FILES } from '../../wedges/library/digest-folder.ts'
import { requireWedge } from '../../wedges/library/enabled-wedges.ts'
import { findProgramFiles } from './program-file-rows.ts'
import type { McpServer } from './session-state.ts'

const MAX_COMMAND_CHARACTERS = 2_000

/** A server that is shipped in a wedge, as `config.command` and `config.wedge` name it. */
interface ServerCommand {
  wedge: string
  /** The path of the script below the wedge's folder. */
  script: string
  args: string[]
  /** Constants; null if the config has none. */
  env: Record<string, string> | null
}

/** Whether the config names a server inside a wedge instead of an address. */
export const isWedgeServer = (config: JsonObject): boolean => config.command !== undefined && config.command !== null

/** Throws a 400 that names the field. */
export function readServerCommand(config: JsonObject): ServerCommand {
  const { command, wedge } = config
  if (config.url !== undefined && config.url !== null)
    throw badRequest("fields 'config.url' and 'config.command' exclude each other")
  if (config.auth !== undefined && config.auth !== null)
    throw badRequest("field 'config.auth' cannot be used with 'config.command': the program gets no credential")
  if (typeof wedge !== 'string' || !isSlug(wedge))
    throw badRequest("field 'config.wedge' must be the wedge that contains the server")
  if (typeof command !== 'string' || command.length > MAX_COMMAND_CHARACTERS || /[\0\n\r]/.test(command))
    throw badRequest("field 'config.command' must be a line of text such as 'node servers/files.mjs'")
  const [program, script, ...args] = splitWords(command)
  if (program !== 'node' || script === undefined)
    throw badRequest("field 'config.command' must be 'node', a script of the wedge and its arguments")
  // An option such as --eval would run code that is not in the wedge.
  if (/^[-/]/.test(script) || script.split('/').includes('..'))
    throw badRequest("field 'config.command' must name a script below the wedge's folder after 'node'")
  return { wedge, script, args, env: readEnv(config.env) }
}

function readEnv(value: Json | undefined): Record<string, string> | null {
  if (value === undefined || value === null) return null
  if (!isJsonObject(value) || Object.keys(value).length > MAX_VARIABLES)
    throw badRequest(`field 'config.env' must be an object with at most ${MAX_VARIABLES} variables`)
  const env: Record<string, string> = {}
  for (const [name, text] of Object.entries(value)) {
    if (!/^[A-Za-z_]\w{0,99}$/.test(name) || RESERVED_VARIABLE.test(name))
      throw badRequest(`field 'config.env' cannot set '${name.slice(0, 100)}'`)
    if (typeof text !== 'string' || text.length > MAX_COMMAND_CHARACTERS || text.includes('\0'))
      throw badRequest(`field 'config.env.${name}' must be a text of at most ${MAX_COMMAND_CHARACTERS} characters`)
    env[name] = text
  }
  return env
}

const MAX_VARIABLES = 50
/** Settings of the service, and variables that change how programs are loaded or where they write. */
const RESERVED_VARIABLE = /^(SVC|LD|DYLD|NODE|UV)_|^(PATH|HOME|TMPDIR|TMP|TEMP|PWD|SHELL|IFS|BASH_ENV|ENV)$/i

/** No shell reads the command: quotes keep words together, and no other character has a meaning. */
const splitWords = (command: string): string[] =>
  [...command.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, double, single, bare]) => double ?? single ?? bare ?? '')

/** The program to start, and the address that the hash of its tools covers. Throws a 400 if the wedge does not have it. */
export async function findServerProgram(
  ctx: Ctx,
  {
    connection: { id, project_id: projectId, name, config },
    clientId = null,
  }: Pick<McpServer, 'connection' | 'clientId'>,
): Promise<{ program: WedgeProgram; address: string }> {
  const { wedge: slug, script, args, env } = readServerCommand(config)
  const { dir } = await requireWedge(ctx, { projectId }, slug)
  const path = await realpathInside(dir, script)
  if (path === null) throw badRequest(`connection '${name}': wedge '${slug}' has no file '${script}'`)
  const digest = await digestServer(dir, path)
  if (digest === null)
    throw badRequest(
      `connection '${name}': the folder of '${script}' has more than ${MAX_HASHED_FILES} files or ` +
        `${MAX_HASHED_BYTES / 1024 / 1024} MB: bundle the server into one file`,
    )
  const setup = env && { env, files: await findProgramFiles(ctx.db, { connection_id: id, client_id: clientId ?? '' }) }
  return {
    program: { projectId, dir, script: relative(dir, path), args, setup },
    address: JSON.stringify([slug, script, ...args, ...(env ? [env] : []), digest]),
  }
}

/**
 * Changes with the files of the script's folder, so that a new version of the server must be confirmed. Installed packages
 * are not hashed, but their lock file is. For a script at the top of the wedge only the script counts, because the other
 * files of the wedge change without it. Null: too many or too large files.
 */
async function digestServer(dir: string, path: string): Promise<string | null> {
  const folder = dirname(path)
  if (folder === dir) return hash('sha256', await readFile(path))
  return digestFolder(folder, isNodePackages)
}
