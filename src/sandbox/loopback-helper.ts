import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MAX_CELL_FILES } from './cell-limits.ts'
import type { CellLimits } from './driver.ts'
import { cellTemporaryFolder } from './staging.ts'

/** Host paths that all cells with a loopback port use. */
export interface LoopbackPaths {
  /** Below it every cell mounts its own writable folders, in its own mount namespace. */
  mountPoint: string
  /** Names 127.0.0.1 as localhost. */
  hostsFile: string
}

export const loopbackTmp = ({ mountPoint }: LoopbackPaths): string => join(mountPoint, 'tmp')
export const loopbackShm = ({ mountPoint }: LoopbackPaths): string => join(mountPoint, 'shm')

/** Removed when the service ends. */
export function createLoopbackPaths(): LoopbackPaths {
  const folder = mkdtempSync(join(cellTemporaryFolder(), 'svc-loopback-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const paths = { mountPoint: join(folder, 'cell'), hostsFile: join(folder, 'hosts') }
  mkdirSync(paths.mountPoint)
  writeFileSync(paths.hostsFile, '127.0.0.1 localhost\n')
  chmodSync(paths.hostsFile, 0o644)
  for (const path of [folder, paths.mountPoint]) chmodSync(path, 0o755)
  return paths
}

/** Opened by the service and given to the helper, which must not be in the same network namespace. */
export const SERVICE_NETWORK = '/proc/self/ns/net'

/**
 * The arguments of a bwrap around the bwrap of the cell. The outer one makes the network namespace, in which it may still
 * limit what no limit of the cell counts: the memory of TCP buffers, and the number of files. `networkDescriptor` is the
 * open `SERVICE_NETWORK`.
 */
export function loopbackArguments(
  bwrap: string,
  { mountPoint }: LoopbackPaths,
  limits: CellLimits,
  networkDescriptor: number,
  cellArguments: string[],
): string[] {
  // /tmp and /dev/shm share one file system here, so it gets the size of both.
  const megabytes = 2 * limits.tmp_mb
  // The monitor of the cell ends it at the limit with a reason; this is what can be made between two of its checks.
  const files = 2 * MAX_CELL_FILES
  const script = [PREPARE_SCRIPT, 'sh', String(networkDescriptor), mountPoint, `size=${megabytes}m,nr_inodes=${files}`]
  return [...OUTER_ARGUMENTS, '/bin/sh', '-c', ...script, bwrap, ...cellArguments]
}

const OUTER_CAPABILITIES = ['SYS_ADMIN', 'NET_ADMIN', 'SETUID', 'SETGID', 'SETPCAP', 'SYS_CHROOT', 'SETFCAP']

/** The capabilities count in the new namespaces only, and the cell itself has none of them. */
const OUTER_ARGUMENTS = [
  ['--unshare-user', '--uid', '0', '--gid', '0', '--unshare-net', '--dev-bind', '/', '/', '--die-with-parent'],
  OUTER_CAPABILITIES.flatMap((name) => ['--cap-add', `CAP_${name}`]),
].flat()

/**
 * The cell shares the network namespace of the outer bwrap. If that is the one of the service, the cell must not start. The
 * shell compares the namespaces by itself, because every program that it starts makes the start of an agent slower.
 */
const PREPARE_SCRIPT = `
set -e
[ -e "/proc/self/fd/$1" ]
if [ /proc/self/ns/net -ef "/proc/self/fd/$1" ]; then echo 'the cell has no network namespace of its own' >&2; exit 70; fi
eval "exec $1<&-"
mount -t tmpfs -o "$3,mode=0755,nosuid,nodev" cell "$2"
mkdir -m 1777 "$2/tmp" "$2/shm"
echo '4096 16384 65536' > /proc/sys/net/ipv4/tcp_rmem
echo '4096 16384 65536' > /proc/sys/net/ipv4/tcp_wmem
echo 256 > /proc/sys/net/core/somaxconn
shift 3; exec "$@"`
