import { existsSync, lstatSync, readlinkSync } from 'node:fs'
import { dirname } from 'node:path'
import { CELL_AGENT_DIR, CELL_SOCKET } from '../contract/agent-protocol.ts'
import type { CellLimits, CellSpec } from './driver.ts'
import { dataLimitMb } from './cell-limits.ts'
import type { HostProgram } from './host-programs.ts'

export const CELL_CUSTOM_DIR = '/custom'

/** What every cell of a driver sees, looked up once. */
export interface BwrapSetup {
  node: HostProgram
  prlimit: HostProgram
  /** Real places on the host, readable by the cell's user, of paths inside. */
  source: (path: string) => string
  /** Folders below /usr that stay invisible. */
  hide: string[]
}

const MEGABYTE = 1024 * 1024

/**
 * The whole argument list of bwrap. Nothing in it is secret: the host may see it in the process list, the cell cannot,
 * because bwrap's first process becomes the cell's program itself.
 */
export function bwrapArguments(spec: CellSpec, furniture: BwrapSetup, seccompDescriptor: number): string[] {
  return [
    NAMESPACE_ARGUMENTS,
    environmentArguments(spec.profile, furniture),
    [...DEVICE_ARGUMENTS, ...tmpfsArguments('/tmp', spec.limits.tmp_mb)],
    spec.profile === 'workshop' ? workshopMounts(furniture, spec.limits) : [],
    programMounts(spec.profile, furniture),
    ['--ro-bind', furniture.source(spec.agentDir), CELL_AGENT_DIR],
    spec.customDir === undefined ? [] : ['--ro-bind', furniture.source(spec.customDir), CELL_CUSTOM_DIR],
    spec.socket === null ? [] : ['--ro-bind', spec.socket, CELL_SOCKET],
    ['--remount-ro', '/dev', '--remount-ro', '/'],
    ['--chdir', spec.customDir === undefined ? '/tmp' : CELL_CUSTOM_DIR],
    ['--seccomp', String(seccompDescriptor), '--'],
    // Inside and not around bwrap: there the number of processes is counted per cell, not per user of the host.
    [furniture.prlimit.path, ...limitArguments(spec.limits), '--'],
    cellCommand(spec, furniture.node),
  ].flat()
}

const NAMESPACE_ARGUMENTS = [
  ['--unshare-user', '--unshare-ipc', '--unshare-pid', '--unshare-net', '--unshare-uts', '--unshare-cgroup-try'],
  ['--disable-userns', '--uid', '65534', '--gid', '65534', '--hostname', 'sandbox'],
  ['--die-with-parent', '--new-session', '--as-pid-1', '--cap-drop', 'ALL'],
].flat()

/**
 * /dev/zero is the machine's /dev/full, which reads as the same endless zeros: a shared mapping of the true one is memory
 * that no limit counts, and a filter of system calls does not see which file is mapped.
 */
const DEVICE_ARGUMENTS = ['--dev', '/dev', '--dev-bind', '/dev/full', '/dev/zero']

function environmentArguments(profile: CellSpec['profile'], furniture: BwrapSetup): string[] {
  const path = ['--setenv', 'PATH', `${dirname(furniture.node.path)}:/usr/local/bin:/usr/bin:/bin`]
  const base = ['--clearenv', '--setenv', 'HOME', '/tmp', '--setenv', 'LANG', 'C.UTF-8', '--setenv', 'TZ', 'UTC']
  return profile === 'workshop' ? [...base, ...path] : base
}

function tmpfsArguments(path: string, megabytes: number): string[] {
  return ['--size', String(megabytes * MEGABYTE), '--perms', '1777', '--tmpfs', path]
}

/** The machine's programs, without its settings, accounts and keys. */
function workshopMounts(furniture: BwrapSetup, limits: CellLimits): string[] {
  const top = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'].filter((path) => existsSync(path))
  return [
    '--ro-bind',
    '/usr',
    '/usr',
    ...top.flatMap((path) =>
      lstatSync(path).isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path],
    ),
    ...['/etc/ld.so.cache', '/etc/alternatives'].flatMap((path) => ['--ro-bind-try', path, path]),
    ...furniture.hide.flatMap((path) => ['--tmpfs', path, '--remount-ro', path]),
    '--proc',
    '/proc',
    ...tmpfsArguments('/dev/shm', limits.tmp_mb),
  ]
}

/** In a workshop most of it is there already, below the folders of the host. */
function programMounts(profile: CellSpec['profile'], { node, prlimit, source }: BwrapSetup): string[] {
  const all = [...new Set([...node.libraries, ...prlimit.libraries, node.path, prlimit.path])]
  const needed = profile === 'sealed' ? all : all.filter((path) => !/^\/(usr|bin|sbin|lib\w*)\//.test(path))
  return needed.flatMap((path) => ['--ro-bind', source(path), path])
}

function limitArguments(limits: CellLimits): string[] {
  return [
    hardLimit('core', 0),
    hardLimit('memlock', 0),
    hardLimit('msgqueue', 0),
    hardLimit('stack', STACK_MB * MEGABYTE),
    hardLimit('nofile', 256),
    hardLimit('nproc', limits.processes),
    hardLimit('fsize', limits.file_mb * MEGABYTE),
    hardLimit('data', dataLimitMb(limits) * MEGABYTE),
    ...(limits.cpu_s > 0 ? [hardLimit('cpu', limits.cpu_s)] : []),
  ]
}

/** What Linux gives by itself. A stack is not data, so a process must not raise it either. */
const STACK_MB = 8

const hardLimit = (name: string, value: number) => `--${name}=${value}:${value}`

function cellCommand(spec: CellSpec, node: HostProgram): string[] {
  const [program, ...rest] = spec.command
  if (program === 'node') return [node.path, ...cellNodeFlags(spec), ...rest]
  if (program === undefined) throw new Error('a cell needs a command')
  if (spec.profile === 'sealed') throw new Error(`a sealed cell runs node alone, not ${program}`)
  return [program, ...rest]
}

/**
 * A cell that many runs share gets half of its memory for the heap; stacks, code and buffers need the rest. One that is
 * started for a single run goes without: any flag of V8 makes Node start some 10 ms slower, because its built-in code
 * cache is for no flags, and the harness keeps its heap small by itself.
 */
export function cellNodeFlags(spec: CellSpec): string[] {
  const heap = `--max-old-space-size=${Math.max(16, Math.floor(spec.limits.memory_mb / 2))}`
  return spec.profile === 'sealed' ? [heap, '--disallow-code-generation-from-strings'] : []
}
