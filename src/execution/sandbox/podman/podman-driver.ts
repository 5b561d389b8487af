import { type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Writable } from 'node:stream'
import { createLimitedSetup } from '../cell-command.ts'
import { workshopMemoryMb } from '../cgroup/cell-limits.ts'
import { monitorCell } from '../cgroup/cell-monitor.ts'
import type { CellResources } from '../cell-resources.ts'
import { type CellTermination, wrapCellProcess } from '../cell-process.ts'
import { namespaceRoot } from '../cell-users.ts'
import { CELL_LOADER, usesLoader } from '../cell-view.ts'
import type { SandboxDriver } from '../driver.ts'
import { killProcess, parseShellExit } from '../exit-status.ts'
import { type GroupedStart, type GroupSupport, prepareGroup, spawnInGroup } from '../cgroup/grouped-start.ts'
import { findProgram, listInheritedDescriptors } from '../host-programs.ts'
import { createRootFolder, keepCellFolder } from '../runsc/oci-root.ts'
import { podmanMounts, podmanRunArguments, type PodmanSetup } from './podman-arguments.ts'
import { readProcFile } from '../proc-file.ts'
import { createRootedDriver } from '../rooted-driver.ts'
import { buildSeccompFilter, type FilterProfile, parseCpuArchitecture } from '../seccomp/seccomp-filter.ts'
import { cellTemporaryFolder, createStaging, type Staging } from '../staging.ts'

/** Runs each cell in a container of podman, with crun and without an image: it sees the same files as in bwrap. */
export function podmanDriver(hide: string[], support: GroupSupport): SandboxDriver {
  const [podman, crun] = ['podman', 'crun'].map(requireProgram)
  const staging = createStaging()
  const folder = createPodmanFolder()
  const setup = createPodmanSetup(hide, staging, folder)
  const command = [...ownCgroupView(), `${podman}`, ...storageArguments(folder), '--runtime', `${crun}`, 'run']
  const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', HOME: folder, XDG_RUNTIME_DIR: join(folder, 'run') }
  const inherited = listInheritedDescriptors()
  return createRootedDriver('podman', support, staging, ({ spec, user, files, resources }) => {
    const cellFolder = keepCellFolder(user && namespaceRoot(user), resources, join(folder, 'cells'))
    const mounts = podmanMounts(spec, setup, files)
    if (usesLoader(spec, setup)) mounts.push({ kind: 'bind', source: join(folder, 'loader'), target: CELL_LOADER })
    const root = join(cellFolder, 'rootfs')
    createRootFolder(root, mounts, PODMAN_FILES)
    const pidFile = join(cellFolder, 'pid')
    const cellOptions = { spec, mounts, user, root, pidFile, name: basename(cellFolder) }
    const grouped = prepareGroup(support.groups, spec, PODMAN_NEEDS, resources)
    const child = spawnInGroup([...command, ...podmanRunArguments(cellOptions, setup)], { env }, grouped, inherited)
    const cell = wrapCellProcess(child, spec.limits, podmanTermination(pidFile, grouped, resources), files)
    const maxMemoryMb = spec.profile === 'workshop' && grouped.group === null ? workshopMemoryMb(spec.limits) : null
    monitorCell(cell, maxMemoryMb, () => findContainer(pidFile))
    return cell
  })
}

/** podman mounts these by itself. The root of the cell's user namespace may not create them. */
const PODMAN_FILES = ['etc/hostname', 'run/.containerenv']

/** podman and conmon, which watches the container. */
const PODMAN_NEEDS = { memoryMb: 128, processes: 64 }

function requireProgram(name: string): string {
  if (process.platform !== 'linux') throw new Error('podman is used on Linux only')
  const path = findProgram(name)
  if (path === null) throw new Error(`${name} is not installed`)
  return path
}

/** For the state of podman. A process of its own ends all containers and removes the folder when the service has ended. */
function createPodmanFolder(): string {
  const folder = mkdtempSync(join(cellTemporaryFolder(), `svc-podman-${process.pid}-`))
  chmodSync(folder, 0o711)
  mkdirSync(join(folder, 'cells'), { mode: 0o711 })
  const cleaner = startPodmanCleaner(folder)
  cleaner.unref()
  if ('unref' in cleaner.stdin && typeof cleaner.stdin.unref === 'function') cleaner.stdin.unref()
  return folder
}

/** Cleans up when its standard input ends. */
export function startPodmanCleaner(folder: string): ChildProcessByStdio<Writable, null, null> {
  const args = ['-c', CLEAN_UP_SCRIPT, 'sh', folder]
  return spawn('/bin/sh', args, { stdio: ['pipe', 'ignore', 'ignore'], detached: true, cwd: '/' })
}

/**
 * A container that is just being started writes its process id a moment later. Without root, podman also leaves a process
 * that keeps its user namespace: catatonit or, where that is not installed, itself. Each process is identified before it
 * is killed: it may have ended, and another program may have its process id.
 */
const CLEAN_UP_SCRIPT = `
trap '' INT TERM HUP
read -r _
for attempt in 1 2 3; do
  for cell in "$1"/cells/*; do
    pid=$(cat "$cell/pid") && grep -qF "/\${cell##*/}/rootfs / " "/proc/$pid/mountinfo" && kill -9 "$pid"
  done
  sleep 0.3
done
pid=$(cat "$1/tmp/pause.pid") && grep -qxE 'catatonit|podman.*' "/proc/$pid/comm" && kill -9 "$pid"
rm -rf "$1"`

function createPodmanSetup(hide: string[], staging: Staging, folder: string): PodmanSetup {
  const setup = createLimitedSetup(hide, staging)
  if (setup.loader !== null) {
    copyFileSync(setup.loader, join(folder, 'loader'))
    chmodSync(join(folder, 'loader'), 0o111)
  }
  const architecture = parseCpuArchitecture(process.arch)
  if (architecture === null) throw new Error(`there is no system call filter for ${process.arch} processors`)
  const encode = (profile: FilterProfile) => buildSeccompFilter(profile, architecture).toString('base64')
  const filters = { sealed: encode('sealed'), workshop: encode('workshop'), loopback: encode('loopback') }
  return { ...setup, filters, hasSomaxconn: hasSomaxconn() }
}

function hasSomaxconn(): boolean {
  return spawnSync('unshare', ['--user', '--net', 'test', '-e', '/proc/sys/net/core/somaxconn']).status === 0
}

/** No state of the operator's own containers is read or written. */
function storageArguments(folder: string): string[] {
  const places = ['--root', join(folder, 'storage'), '--runroot', join(folder, 'run'), '--tmpdir', join(folder, 'tmp')]
  return [...places, '--storage-driver=vfs', '--cgroup-manager=cgroupfs', '--events-backend=none']
}

/**
 * crun refuses a machine that uses both versions of cgroups, although our containers use neither through crun. There it
 * gets a view with version 2 alone.
 */
function ownCgroupView(): string[] {
  const isHybrid = existsSync('/sys/fs/cgroup/unified') && process.getuid?.() === 0
  const script = 'mount -t cgroup2 cgroup2 /sys/fs/cgroup && exec "$@"'
  return isHybrid ? ['unshare', '--mount', '/bin/sh', '-c', script, 'sh'] : []
}

function podmanTermination(pidFile: string, grouped: GroupedStart, resources: CellResources): CellTermination {
  let killer: NodeJS.Timeout | undefined
  return {
    ...grouped.termination,
    /** Kills the first process of the container, which ends all others. Before that, podman has to start it. */
    kill() {
      killContainer(pidFile)
      killer ??= setInterval(killContainer, KILL_INTERVAL_MS, pidFile)
    },
    parseExit: parseShellExit,
    afterExit() {
      clearInterval(killer)
      resources.releaseAll()
    },
  }
}

const KILL_INTERVAL_MS = 20

function killContainer(pidFile: string): void {
  const pid = findContainer(pidFile)
  if (pid !== undefined) killProcess(pid)
}

/**
 * The first process of the container. The file still names it after its end, when another program may have the same
 * number: it is the container only if its root is that of the cell.
 */
function findContainer(pidFile: string): number | undefined {
  const pid = Number(readProcFile(pidFile).trim()) || undefined
  const root = `/${basename(dirname(pidFile))}/rootfs / `
  return pid !== undefined && readProcFile(`/proc/${pid}/mountinfo`).includes(root) ? pid : undefined
}
