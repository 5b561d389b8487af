import { type CellMount, type CellSetup, cellCommand } from '../cell-view.ts'
import { cellEnvironment, cellMounts, cellResourceLimits, cellWorkingDir } from '../cell-view.ts'
import type { CellSpec } from '../driver.ts'
import type { FilesFolder } from '../files-folder.ts'
import { ociSeccomp } from './oci-seccomp.ts'

/** The OCI configuration of a cell for gVisor, and what is mounted in it. */
export function runscConfig(spec: CellSpec, setup: CellSetup, files: FilesFolder | null) {
  const mounts = cellMounts(spec, setup, files, [])
  const config = {
    ociVersion: '1.0.0',
    hostname: 'sandbox',
    root: { path: 'rootfs', readonly: true },
    process: {
      user: cellIdentity(),
      args: cellCommand(spec, setup),
      env: Object.entries(cellEnvironment(spec.profile, setup)).map(([name, value]) => `${name}=${value}`),
      cwd: cellWorkingDir(spec),
      noNewPrivileges: true,
      capabilities: {},
      rlimits: resourceLimits(spec),
    },
    mounts: [
      ...mounts.flatMap(ociMount),
      ...(spec.profile === 'sealed' ? [READ_ONLY_DEVICES, closedFolder('/proc')] : []),
      closedFolder('/sys'),
    ],
    linux: {
      namespaces: ['pid', 'network', 'ipc', 'uts', 'mount'].map((type) => ({ type })),
      seccomp: ociSeccomp(spec.hasLoopback ? 'loopback' : spec.profile),
    },
  }
  return { config, mounts }
}

/**
 * gVisor shows files of the user that runs it as files of root. A service that is not root owns the files of its cells,
 * so its cells are user 0: without capabilities, and on the host they have the rights of the service user.
 */
function cellIdentity() {
  const id = process.getuid?.() === 0 ? 65534 : 0
  return { uid: id, gid: id }
}

/** gVisor has no limit for message queues. */
function resourceLimits({ limits }: CellSpec) {
  const { msgqueue: _, ...known } = cellResourceLimits(limits)
  return Object.entries(known).map(([name, value]) => ({
    type: `RLIMIT_${name.toUpperCase()}`,
    soft: value,
    hard: value,
  }))
}

function ociMount(mount: CellMount) {
  const { target: destination } = mount
  switch (mount.kind) {
    case 'bind':
      return [{ destination, type: 'bind', source: mount.source, options: ['rbind', 'ro'] }]
    case 'tmpfs':
      return [{ destination, type: 'tmpfs', source: 'tmpfs', options: ['mode=1777', `size=${mount.megabytes}m`] }]
    case 'empty':
      return [{ destination, type: 'tmpfs', source: 'tmpfs', options: ['ro', 'mode=0555'] }]
    case 'proc':
      return [{ destination, type: 'proc', source: 'proc', options: [] }]
    default:
      return [] // It is part of the root folder.
  }
}

/**
 * gVisor mounts its own devices here in any case. The cell may be user 0, who could write to the folder. Not in a
 * workshop: there gVisor would refuse to open /dev/null as shells do.
 */
const READ_ONLY_DEVICES = { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['ro'] }

/** gVisor mounts /proc and /sys by itself if nothing else is mounted there. */
function closedFolder(destination: string) {
  return { destination, type: 'tmpfs', source: 'tmpfs', options: ['ro', 'mode=0000'] }
}
