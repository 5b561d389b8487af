import { type LimitedCellSetup, limitedCommand } from './limited-command.ts'
import { CELL_LOADER, type CellMount, MEGABYTE, usesLoader } from '../cell-view.ts'
import { cellEnvironment, cellMounts, cellWorkingDir } from '../cell-view.ts'
import type { CellSpec } from '../driver.ts'
import type { FilesFolder } from '../files-folder.ts'

/** The descriptors of the system call filter and of the dynamic loader, which bwrap reads. */
const SECCOMP_DESCRIPTOR = 3
const LOADER_DESCRIPTOR = 4

/**
 * All arguments of bwrap. They contain no secret: the host shows them in its process list. The cell cannot see them,
 * because the first process of bwrap becomes the program of the cell.
 */
export function bwrapArguments(spec: CellSpec, setup: LimitedCellSetup, files: FilesFolder | null): string[] {
  const environment = Object.entries(cellEnvironment(spec.profile, setup))
  return [
    spec.hasLoopback ? [] : ['--unshare-net'],
    NAMESPACE_ARGUMENTS,
    ['--clearenv', ...environment.flatMap((variable) => ['--setenv', ...variable])],
    DEVICE_ARGUMENTS,
    cellMounts(spec, setup, files, [setup.prlimit]).flatMap(mountArguments),
    usesLoader(spec, setup) ? ['--perms', '0111', '--file', String(LOADER_DESCRIPTOR), CELL_LOADER] : [],
    ['--remount-ro', '/dev', '--remount-ro', '/'],
    ['--chdir', cellWorkingDir(spec)],
    ['--seccomp', String(SECCOMP_DESCRIPTOR), '--'],
    limitedCommand(spec, setup),
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

function mountArguments(mount: CellMount): string[] {
  switch (mount.kind) {
    case 'bind':
      return ['--ro-bind', mount.source, mount.target]
    case 'link':
      return ['--symlink', mount.source, mount.target]
    case 'tmpfs':
      return ['--size', String(mount.megabytes * MEGABYTE), '--perms', '1777', '--tmpfs', mount.target]
    case 'empty':
      return ['--tmpfs', mount.target, '--remount-ro', mount.target]
    default:
      return ['--proc', mount.target]
  }
}
