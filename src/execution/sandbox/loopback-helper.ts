import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cleanUpAtExit } from './cell-resources.ts'
import { cellTemporaryFolder } from './staging.ts'

/** A file for all cells with a loopback port that names 127.0.0.1 as localhost. Removed when the service ends. */
export function createHostsFile(): string {
  const folder = mkdtempSync(join(cellTemporaryFolder(), 'svc-loopback-'))
  cleanUpAtExit(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'hosts')
  writeFileSync(path, '127.0.0.1 localhost\n')
  chmodSync(path, 0o644)
  chmodSync(folder, 0o755)
  return path
}

/** Opened by the service and given to the helper, which must not be in the same network namespace. */
export const SERVICE_NETWORK = '/proc/self/ns/net'

/**
 * The arguments of a bwrap around the bwrap of the cell. The outer one makes the network namespace, in which it may still
 * limit what no limit of the cell counts: the memory of TCP buffers. `networkDescriptor` is the open `SERVICE_NETWORK`.
 */
export function loopbackArguments(bwrap: string, networkDescriptor: number, cellArguments: string[]): string[] {
  const script = [PREPARE_SCRIPT, 'sh', String(networkDescriptor)]
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
 * shell starts no program, because each would make the start of an agent slower.
 */
const PREPARE_SCRIPT = `
set -e
[ -e "/proc/self/fd/$1" ]
if [ /proc/self/ns/net -ef "/proc/self/fd/$1" ]; then echo 'the cell has no network namespace of its own' >&2; exit 70; fi
eval "exec $1<&-"
echo '4096 16384 65536' > /proc/sys/net/ipv4/tcp_rmem
echo '4096 16384 65536' > /proc/sys/net/ipv4/tcp_wmem
# Older kernels, such as 6.1, do not show this one in a user namespace.
if [ -e /proc/sys/net/core/somaxconn ]; then echo 256 > /proc/sys/net/core/somaxconn; fi
shift; exec "$@"`
