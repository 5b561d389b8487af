import { existsSync, lstatSync, readlinkSync } from 'node:fs'
import { dirname } from 'node:path'
import { CELL_AGENT_DIR, CELL_SOCKET } from '../contract/agent-protocol.ts'
import { SHELL_FOLDERS, SHOWN_FOLDERS } from '../contract/declared-agents.ts'
import type { CellLimits, CellSpec } from './driver.ts'
import { dataLimitMb } from './cell-limits.ts'
import type { HostProgram } from './host-programs.ts'

export const CELL_CUSTOM_DIR = '/custom'
/** Below the home folder of every cell, which is /tmp. */
export const CELL_FILES_DIR = '/tmp/in'

/** What all cells of the driver share, looked up once. */
export interface BwrapSetup {
  node: HostProgram
  prlimit: HostProgram
  /** The dynamic loader of Node; null if Node is linked statically. */
  loader: string | null
  /** The host path with the same content as `path` that the user of the cell can read. */
  readablePath: (path: string) => string
  /** Folders below /usr that cells must not see. */
  hiddenFolders: string[]
  /** Names localhost in cells with a loopback port. */
  hostsFile: string
}

/** The descriptors of the system call filter and of the dynamic loader, which bwrap reads. */
const SECCOMP_DESCRIPTOR = 3
const LOADER_DESCRIPTOR = 4

const MEGABYTE = 1024 * 1024

/**
 * All arguments of bwrap. They contain no secret: the host shows them in its process list. The cell cannot see them,
 * because the first process of bwrap becomes the program of the cell.
 */
export function bwrapArguments(spec: CellSpec, setup: BwrapSetup, filesFolder: string | null): string[] {
  return [
    spec.hasLoopback ? [] : ['--unshare-net'],
    NAMESPACE_ARGUMENTS,
    environmentArguments(spec.profile, setup),
    [...DEVICE_ARGUMENTS, ...tmpfsArguments('/tmp', spec.limits.tmp_mb)],
    filesFolder === null ? [] : ['--ro-bind', filesFolder, CELL_FILES_DIR],
    spec.profile === 'workshop' ? workshopMounts(spec, setup) : [],
    programMounts(spec.profile, setup),
    usesLoader(spec, setup) ? ['--perms', '0111', '--file', String(LOADER_DESCRIPTOR), CELL_LOADER] : [],
    ['--ro-bind', setup.readablePath(spec.agentDir), CELL_AGENT_DIR],
    spec.customDir === undefined ? [] : ['--ro-bind', setup.readablePath(spec.customDir), CELL_CUSTOM_DIR],
    spec.socket === null ? [] : ['--ro-bind', spec.socket, CELL_SOCKET],
    ['--remount-ro', '/dev', '--remount-ro', '/'],
    ['--chdir', spec.customDir === undefined ? '/tmp' : CELL_CUSTOM_DIR],
    ['--seccomp', String(SECCOMP_DESCRIPTOR), '--'],
    // Inside bwrap, not around it: inside, the kernel counts processes per cell and not per user of the host.
    [setup.prlimit.path, ...limitArguments(spec.limits), '--'],
    cellCommand(spec, setup),
  ].flat()
}

const NAMESPACE_ARGUMENTS = [
  ['--unshare-user', '--unshare-ipc', '--unshare-pid', '--unshare-uts', '--unshare-cgroup-try'],
  ['--disable-userns', '--uid', '65534', '--gid', '65534', '--hostname', 'sandbox'],
  ['--die-with-parent', '--new-session', '--as-pid-1', '--cap-drop', 'ALL'],
].flat()

/**
 * Cells get /dev/full as their /dev/zero, because it reads as the same endless zeros. A shared mapping of the real
 * /dev/zero is memory that no limit counts, and a system call filter cannot see which file is mapped.
 */
const DEVICE_ARGUMENTS = ['--dev', '/dev', '--dev-bind', '/dev/full', '/dev/zero']

function environmentArguments(profile: CellSpec['profile'], setup: BwrapSetup): string[] {
  const path = ['--setenv', 'PATH', [dirname(setup.node.path), ...SHELL_FOLDERS].join(':')]
  const base = ['--clearenv', '--setenv', 'HOME', '/tmp', '--setenv', 'LANG', 'C.UTF-8', '--setenv', 'TZ', 'UTC']
  return profile === 'workshop' ? [...base, ...path] : base
}

function tmpfsArguments(path: string, megabytes: number): string[] {
  return ['--size', String(megabytes * MEGABYTE), '--perms', '1777', '--tmpfs', path]
}

/** The programs of the host, without its settings, accounts and keys. */
function workshopMounts({ hasLoopback, limits }: CellSpec, setup: BwrapSetup): string[] {
  return [
    ...SHOWN_FOLDERS.filter((path) => existsSync(path)).flatMap((path) =>
      lstatSync(path).isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path],
    ),
    ...['/etc/ld.so.cache', '/etc/alternatives'].flatMap((path) => ['--ro-bind-try', path, path]),
    ...setup.hiddenFolders.flatMap((path) => ['--tmpfs', path, '--remount-ro', path]),
    '--proc',
    '/proc',
    ...tmpfsArguments('/dev/shm', limits.tmp_mb),
    ...(hasLoopback ? ['--ro-bind', setup.hostsFile, '/etc/hosts'] : []),
  ]
}

/** In a workshop most of these files are visible already, below the mounted folders of the host. */
function programMounts(profile: CellSpec['profile'], { node, prlimit, readablePath }: BwrapSetup): string[] {
  const all = [...new Set([...node.libraries, ...prlimit.libraries, node.path, prlimit.path])]
  const needed = profile === 'sealed' ? all : all.filter((path) => !/^\/(usr|bin|sbin|lib\w*)\//.test(path))
  return needed.flatMap((path) => ['--ro-bind', readablePath(path), path])
}

function limitArguments(limits: CellLimits): string[] {
  return [
    hardLimit('core', 0),
    hardLimit('memlock', 0),
    hardLimit('msgqueue', 0),
    hardLimit('stack', STACK_MB * MEGABYTE),
    hardLimit('nofile', limits.open_files),
    hardLimit('nproc', limits.processes),
    hardLimit('fsize', limits.file_mb * MEGABYTE),
    hardLimit('data', dataLimitMb(limits) * MEGABYTE),
    ...(limits.cpu_s > 0 ? [hardLimit('cpu', limits.cpu_s)] : []),
  ]
}

/** The Linux default. The kernel does not count a stack as data, so a process must not be able to raise it. */
const STACK_MB = 8

const hardLimit = (name: string, value: number) => `--${name}=${value}:${value}`

const CELL_LOADER = '/loader'

/**
 * Whether the harness of a workshop is started by a loader that may be executed but not read. The kernel then protects
 * the process like one with a secret: no other program of the cell can open its memory or its pipes in /proc.
 */
export function usesLoader({ profile, command }: CellSpec, { loader }: BwrapSetup): boolean {
  return profile === 'workshop' && command[0] === 'node' && loader !== null
}

function cellCommand(spec: CellSpec, setup: BwrapSetup): string[] {
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
