import { accessSync, closeSync, constants, openSync, readSync, realpathSync, statSync } from 'node:fs'
import { dirname, join, resolve, sep } from 'node:path'
import { realpathInside } from '../../base/real-path.ts'
import type { WedgeManifest } from './wedge-manifest.ts'

/** The memory of a custom agent, unless `harness.memory_mb` names another. */
export const DEFAULT_AGENT_MEMORY_MB = 1024
/** `SVC_AGENT_MAX_MEMORY_MB` changes it. */
export const DEFAULT_AGENT_MAX_MEMORY_MB = 2048

/** The agents that declare more memory than the deployment allows. */
export function findLargeAgents({ task_types }: Pick<WedgeManifest, 'task_types'>, maxMemoryMb: number) {
  return Object.entries(task_types).flatMap(([name, { harness }]) =>
    (harness.memory_mb ?? 0) > maxMemoryMb
      ? [
          {
            path: ['task_types', name, 'harness', 'memory_mb'],
            message: `must be at most ${maxMemoryMb} (SVC_AGENT_MAX_MEMORY_MB)`,
          },
        ]
      : [],
  )
}

/** Says why a folder of the wedge cannot be the folder of an agent, or returns its real path. */
export async function findAgentFolder(wedgeDir: string, dir: string): Promise<{ path: string } | { problem: string }> {
  const path = await realpathInside(wedgeDir, dir)
  if (path === null) return { problem: 'does not exist, or is a link to a target outside the wedge' }
  return statSync(path).isDirectory() ? { path } : { problem: 'is not a folder' }
}

/** Programs whose first argument is usually a file. */
const INTERPRETERS = /^(?:node|deno|bun|python[\d.]*|sh|bash|ruby|perl|php)$/
/** A command with any of these needs a shell to be understood, so it is not checked. */
const SHELL_SYNTAX = /[;&|<>()$`"'\\*?{}#~\n]|^\s*\w+=/

/** The words of a command that starts one program with plain arguments; null for any other. */
function plainWords(command: string): string[] | null {
  if (SHELL_SYNTAX.test(command)) return null
  const words = command.trim().split(/\s+/)
  return words[0] === 'exec' ? words.slice(1) : words
}

/** A sentence if the command names a file that the agent's folder does not contain. */
export function findMissingFile(agentDir: string, command: string): string | null {
  const [program, script] = plainWords(command) ?? []
  if (program === undefined) return null
  const named = program.includes('/') ? program : script
  const isFile =
    program.includes('/') || (INTERPRETERS.test(program) && script !== undefined && !script.startsWith('-'))
  if (named === undefined || !isFile || named.startsWith('/')) return null
  return exists(join(agentDir, named)) ? null : `there is no file '${named}' in the folder of the agent`
}

/** What a sandbox shows of the machine, if it exists. */
export const SHOWN_FOLDERS = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32']

/**
 * A sentence if the sandbox does not show the program of the command. `agentDir` is null if the agent has no folder. Node
 * is always shown.
 */
export function findHiddenProgram(agentDir: string | null, command: string, searchPath: string): string | null {
  const [program] = plainWords(command) ?? []
  if (program === undefined || program === 'node') return null
  const isPath = program.includes('/')
  const candidates = isPath
    ? [resolve(agentDir ?? '/', program)]
    : [...SHELL_FOLDERS, ...searchPath.split(':')].map((folder) => join(folder, program))
  const found = candidates.filter(isExecutable)
  const [first] = found
  if (first === undefined) return isPath ? null : `there is no program '${program}' on this machine`
  if (found.some((path) => isShown(path, agentDir, isPath)))
    return isPath ? findHiddenInterpreter(program, first) : null
  const target = realpathSync(first)
  return `the program '${program}' is ${target}, which the agent cannot start: ${SHOWN_SENTENCE}`
}

const SHOWN_SENTENCE = `the sandbox shows only ${SHOWN_FOLDERS.slice(0, 2).join(', ')}, the libraries and the folder of the agent`

/** A program in the folder of the agent may need an interpreter by its path on the machine. */
function findHiddenInterpreter(program: string, path: string): string | null {
  const [, interpreter] = /^#!\s*(\/\S+)/.exec(readStart(path)) ?? []
  if (interpreter !== undefined && !isBelowShownFolder(interpreter))
    return `the program '${program}' needs ${interpreter}, which the sandbox does not show: start it with an interpreter (such as .venv/bin/python -m NAME)`
  const [, home] = /^home\s*=\s*(\/.*)$/m.exec(readStart(join(dirname(path), '../pyvenv.cfg'))) ?? []
  if (home === undefined || isBelowShownFolder(join(home, 'python'))) return null
  return `the program '${program}' needs the Python in ${home.trim()}, which the agent cannot use: ${SHOWN_SENTENCE}`
}

const isBelowShownFolder = (path: string): boolean => SHOWN_FOLDERS.some((folder) => path.startsWith(folder + sep))

/** The first 1,024 characters of a file; empty if it cannot be read. */
function readStart(path: string): string {
  try {
    const file = openSync(path, 'r')
    try {
      const buffer = Buffer.alloc(1024)
      return buffer.toString('latin1', 0, readSync(file, buffer))
    } finally {
      closeSync(file)
    }
  } catch {
    return ''
  }
}

/** The search path inside a sandbox, after the folder of Node. */
export const SHELL_FOLDERS = ['/usr/local/bin', '/usr/bin', '/bin']

/** Without a path, the sandbox looks for programs in its own search path only. */
function isShown(path: string, agentDir: string | null, isPath: boolean): boolean {
  if (!isPath && !SHELL_FOLDERS.includes(dirname(path))) return false
  const target = realpathSync(path)
  return isBelowShownFolder(target) || (agentDir !== null && target.startsWith(realpathSync(agentDir) + sep))
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

const exists = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined
