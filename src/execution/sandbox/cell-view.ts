import { existsSync, lstatSync, readlinkSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { CELL_AGENT_DIR, CELL_SOCKET } from '../../platform/contract/agent-protocol.ts'
import { SHELL_FOLDERS, SHOWN_FOLDERS } from '../../platform/contract/wedge/declared-agents.ts'
import { dataLimitMb } from './cgroup/cell-limits.ts'
import type { CellLimits, CellSpec } from './driver.ts'
import type { FilesFolder } from './files-folder.ts'
import { type HostProgram, inspectOwnNode } from './host-programs.ts'
import { createHostsFile } from './loopback-helper.ts'
import type { Staging } from './staging.ts'

export const CELL_CUSTOM_DIR = '/custom'
/** Below the home folder of every cell, which is /tmp. */
export const CELL_FILES_DIR = '/tmp/in'
export const CELL_LOADER = '/loader'

/** Where every cell with a root of its own sees its socket and its folders. */
export const CELL_PATHS = {
  socketPathInside: () => CELL_SOCKET,
  agentDirInside: () => CELL_AGENT_DIR,
  customDirInside: () => CELL_CUSTOM_DIR,
}

/** What all cells of a driver share, looked up once. */
export interface CellSetup {
  node: HostProgram
  /** The dynamic loader of Node; null if Node is linked statically. */
  loader: string | null
  /** The host path with the same content as `path` that the user of the cell can read. */
  readablePath: (path: string) => string
  /** Folders below /usr that cells must not see. */
  hiddenFolders: string[]
  /** Names localhost in cells with a loopback port. */
  hostsFile: string
}

export function createCellSetup(hide: string[], staging: Staging): CellSetup {
  const node = inspectOwnNode()
  return {
    node,
    loader: node.libraries.find((path) => /^ld-.*\.so/.test(basename(path))) ?? null,
    readablePath: staging.readablePath,
    hiddenFolders: hide.filter((path) => path.startsWith('/usr/')),
    hostsFile: createHostsFile(),
  }
}

/** One entry of the file tree of a cell. Everything is read-only except a `tmpfs`. */
export type CellMount =
  | { kind: 'bind'; source: string; target: string }
  | { kind: 'link'; source: string; target: string }
  | { kind: 'tmpfs'; target: string; megabytes: number }
  | { kind: 'empty'; target: string }
  | { kind: 'proc'; target: string }

const bind = (source: string, target = source): CellMount => ({ kind: 'bind', source, target })

/** The files that a cell sees, in the order in which they are mounted; `programs` are visible in a sealed cell too. */
export function cellMounts(
  spec: CellSpec,
  setup: CellSetup,
  files: FilesFolder | null,
  programs: HostProgram[],
): CellMount[] {
  return [
    { kind: 'tmpfs', target: '/tmp', megabytes: spec.limits.tmp_mb },
    ...(files === null ? [] : [bind(files.host, files.inside)]),
    ...(spec.profile === 'workshop' ? workshopMounts(spec, setup) : []),
    ...programMounts(spec.profile, setup, programs),
    bind(setup.readablePath(spec.agentDir), CELL_AGENT_DIR),
    ...(spec.customDir === undefined ? [] : [bind(setup.readablePath(spec.customDir), CELL_CUSTOM_DIR)]),
    ...(spec.socket === null ? [] : [bind(spec.socket, CELL_SOCKET)]),
  ]
}

/** The programs of the host, without its settings, accounts and keys. */
function workshopMounts({ hasLoopback, limits }: CellSpec, setup: CellSetup): CellMount[] {
  return [
    ...SHOWN_FOLDERS.filter((path) => existsSync(path)).map(
      (path): CellMount =>
        lstatSync(path).isSymbolicLink() ? { kind: 'link', source: readlinkSync(path), target: path } : bind(path),
    ),
    ...['/etc/ld.so.cache', '/etc/alternatives'].filter((path) => existsSync(path)).map((path) => bind(path)),
    ...setup.hiddenFolders.map((target): CellMount => ({ kind: 'empty', target })),
    { kind: 'proc', target: '/proc' },
    { kind: 'tmpfs', target: '/dev/shm', megabytes: limits.tmp_mb },
    ...(hasLoopback ? [bind(setup.hostsFile, '/etc/hosts')] : []),
  ]
}

/** In a workshop most of these files are visible already, below the mounted folders of the host. */
function programMounts(profile: CellSpec['profile'], setup: CellSetup, programs: HostProgram[]): CellMount[] {
  const all = [setup.node, ...programs]
  const paths = [...new Set([...all.flatMap(({ libraries }) => libraries), ...all.map(({ path }) => path)])]
  const needed = profile === 'sealed' ? paths : paths.filter((path) => !/^\/(usr|bin|sbin|lib\w*)\//.test(path))
  return needed.map((path) => bind(setup.readablePath(path), path))
}

export function cellEnvironment(profile: CellSpec['profile'], setup: CellSetup): Record<string, string> {
  const base = { HOME: '/tmp', LANG: 'C.UTF-8', TZ: 'UTC' }
  return profile === 'sealed' ? base : { ...base, PATH: [dirname(setup.node.path), ...SHELL_FOLDERS].join(':') }
}

export const cellWorkingDir = ({ customDir }: CellSpec): string => (customDir === undefined ? '/tmp' : CELL_CUSTOM_DIR)

/** The limits of the kernel for each process of a cell, by the names of `prlimit`. A process cannot raise them. */
export function cellResourceLimits(limits: CellLimits): Record<string, number> {
  return {
    core: 0,
    memlock: 0,
    msgqueue: 0,
    stack: STACK_MB * MEGABYTE,
    nofile: limits.open_files,
    nproc: limits.processes,
    fsize: limits.file_mb * MEGABYTE,
    data: dataLimitMb(limits) * MEGABYTE,
    ...(limits.cpu_s > 0 && { cpu: limits.cpu_s }),
  }
}

export const MEGABYTE = 1024 * 1024
/** The Linux default. The kernel does not count a stack as data, so a process must not be able to raise it. */
const STACK_MB = 8

/**
 * Whether the harness of a workshop is started by a loader that may be executed but not read. The kernel then protects
 * the process like one with a secret: no other program of the cell can open its memory or its pipes in /proc.
 */
export function usesLoader({ profile, command }: CellSpec, { loader }: CellSetup): boolean {
  return profile === 'workshop' && command[0] === 'node' && loader !== null
}

export function cellCommand(spec: CellSpec, setup: CellSetup): string[] {
  const [program, ...rest] = spec.command
  const node = usesLoader(spec, setup) ? [CELL_LOADER, setup.node.path] : [setup.node.path]
  if (program === 'node') return [...node, ...cellNodeFlags(spec), ...rest]
  if (program === undefined) throw new Error('a cell needs a command')
  if (spec.profile === 'sealed') throw new Error(`a sealed cell can only run node, not ${program}`)
  return [program, ...rest]
}

/**
 * A cell that many runs share gets half of its memory for the heap; stacks, code and buffers need the rest. A cell for
 * a single run gets no V8 flag: any flag makes Node start about 10 ms slower, because its built-in code cache is valid
 * only without flags. There the data limit ends a process whose heap grows too large.
 */
export function cellNodeFlags(spec: CellSpec): string[] {
  const heap = `--max-old-space-size=${Math.max(16, Math.floor(spec.limits.memory_mb / 2))}`
  if (spec.profile === 'workshop') return []
  // The programs of a wedge may compile their schemas to functions, as common validators do.
  return spec.customDir === undefined ? [heap, '--disallow-code-generation-from-strings'] : [heap]
}
