import { type LimitedCellSetup, limitedCommand } from '../cell-command.ts'
import { cellEnvironment, type CellMount, cellMounts, cellWorkingDir, MEGABYTE } from '../cell-view.ts'
import { type CellUser, namespaceRoot } from '../cell-users.ts'
import type { CellLimits, CellSpec } from '../driver.ts'
import type { FilesFolder } from '../files-folder.ts'

export interface PodmanSetup extends LimitedCellSetup {
  /** The system call filters of bwrap, which crun loads too, in base64. */
  filters: { sealed: string; workshop: string; loopback: string }
  /** Whether a network namespace of a user has `net.core.somaxconn`. Older kernels, such as 6.1, do not show it. */
  hasSomaxconn: boolean
}

export interface PodmanCell {
  spec: CellSpec
  mounts: CellMount[]
  user: CellUser | null
  /** Host folders and files of this cell. */
  root: string
  pidFile: string
  name: string
}

/** What podman mounts for the cell. The driver adds the loader, of which it has a copy that can be executed but not read. */
export function podmanMounts(spec: CellSpec, setup: PodmanSetup, files: FilesFolder | null): CellMount[] {
  return [
    ...cellMounts(spec, setup, files, [setup.prlimit]),
    // As in bwrap: a shared mapping of the real /dev/zero is memory that no limit counts.
    { kind: 'bind', source: '/dev/full', target: '/dev/zero' },
  ]
}

/** The arguments after `podman run`. They contain no secret: the host shows them in its process list. */
export function podmanRunArguments(
  { spec, mounts, user, root, pidFile, name }: PodmanCell,
  setup: PodmanSetup,
): string[] {
  const filter = setup.filters[spec.hasLoopback ? 'loopback' : spec.profile]
  return [
    ['--rm', '--interactive', '--name', name, '--pidfile', pidFile, '--log-driver=passthrough', '--pull=never'],
    ['--network=none', '--no-hosts', '--passwd=false', '--hostname=sandbox', '--systemd=false', '--ipc=none'],
    [
      '--read-only',
      '--read-only-tmpfs=false',
      '--cap-drop=all',
      '--security-opt=no-new-privileges',
      '--cgroups=disabled',
    ],
    spec.hasLoopback ? loopbackArguments(setup) : [],
    ['--annotation', `run.oci.seccomp_bpf_data=${filter}`],
    spec.profile === 'sealed' ? ['--security-opt', 'mask=/proc:/sys'] : ['--security-opt', 'mask=/sys'],
    userArguments(user, spec.limits),
    ['--workdir', cellWorkingDir(spec), '--http-proxy=false', '--unsetenv-all'],
    Object.entries(cellEnvironment(spec.profile, setup)).flatMap(([key, value]) => ['--env', `${key}=${value}`]),
    mounts.flatMap(mountArguments),
    ['--entrypoint=', '--rootfs', root, ...limitedCommand(spec, setup)],
  ].flat()
}

/**
 * A user namespace of its own, in which the cell is nobody, as in bwrap: the kernel counts its processes per cell. If the
 * service is root, only this user and a root without rights exist. Otherwise the user is that of the service, and podman
 * takes the others from /etc/subuid.
 */
function userArguments(user: CellUser | null, limits: CellLimits): string[] {
  if (user === null) return [`--userns=keep-id:uid=${INNER_ID},gid=${INNER_ID}`, '--user', `${INNER_ID}:${INNER_ID}`]
  const root = namespaceRoot(user)
  return [
    ['--uidmap', `0:${root.uid}:1`, '--uidmap', `${INNER_ID}:${user.uid}:1`],
    ['--gidmap', `0:${root.gid}:1`, '--gidmap', `${INNER_ID}:${user.gid}:1`],
    ['--user', `${INNER_ID}:${INNER_ID}`],
    // As root, podman would raise these two, which it may not do in the user namespace. `prlimit` sets all limits later.
    ['--ulimit', `nofile=${limits.open_files}:${limits.open_files}`],
    ['--ulimit', `nproc=${limits.processes}:${limits.processes}`],
  ].flat()
}

const INNER_ID = 65534

/** As the loopback helper of bwrap sets them: no limit of the cell counts the memory of TCP buffers. */
function loopbackArguments({ hasSomaxconn }: PodmanSetup): string[] {
  const settings = ['net.ipv4.tcp_rmem=4096 16384 65536', 'net.ipv4.tcp_wmem=4096 16384 65536']
  if (hasSomaxconn) settings.push('net.core.somaxconn=256')
  return settings.flatMap((setting) => ['--sysctl', setting])
}

function mountArguments(mount: CellMount): string[] {
  switch (mount.kind) {
    case 'bind':
      return [
        '--mount',
        `type=bind,${quote(`src=${mount.source}`)},${quote(`dst=${mount.target}`)},ro=true,nosuid,nodev`,
      ]
    case 'tmpfs':
      return [
        '--tmpfs',
        `${mount.target}:rw,exec,nosuid,nodev,notmpcopyup,mode=1777,size=${mount.megabytes * MEGABYTE}`,
      ]
    case 'empty':
      return ['--tmpfs', `${mount.target}:ro,nosuid,nodev,notmpcopyup,mode=555`]
    default:
      return [] // Links are part of the root folder, and podman mounts /proc by itself.
  }
}

/** podman reads a mount as a line of CSV, and a path may contain commas and quotes. */
const quote = (field: string): string => `"${field.replaceAll('"', '""')}"`
