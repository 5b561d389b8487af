import type { FilesFolder } from './files-folder.ts'
import type { StagedFolder } from './staging.ts'

export interface CellSpec {
  /**
   * sealed: only node, no fork, no /proc.
   * workshop: any program of the host; /usr, /bin and /lib* read-only, fork and exec, its own /proc.
   */
  profile: 'sealed' | 'workshop'
  /** Program and arguments as seen inside; the program 'node' means the Node binary of the service. */
  command: string[]
  /** Host folder that the cell sees read-only at /agent. */
  agentDir: string
  /** Host folder of a custom agent or a wedge, seen read-only at /custom; the command starts in it instead of in /tmp. */
  customDir?: string
  /** Host path of the Unix socket that the cell sees at /run/svc.sock, after `prepareSocket`; null: no socket. */
  socket: string | null
  /** A workshop may use TCP on 127.0.0.1. With bwrap no other address is reachable, and the interface is its own. */
  hasLoopback?: boolean
  /** The cell gets a folder for the files of its runs, which it sees read-only at `$HOME/in`. */
  hasFilesFolder?: true
  limits: CellLimits
}

/**
 * Memory, CPU seconds, open files and file size are limited per process; all processes of a workshop together may use
 * twice the memory up to 1 GiB, and above that as much as one of them. `cpu_s: 0` means no limit, for long-lived cells.
 */
export interface CellLimits {
  memory_mb: number
  processes: number
  open_files: number
  file_mb: number
  tmp_mb: number
  cpu_s: number
  output_line_bytes: number
  stderr_bytes: number
}

export interface CellExit {
  code: number | null
  signal: string | null
  stderr: string
}

export interface SandboxCell {
  readonly pid: number
  /** Removed with the cell; null if the cell was started without one. */
  readonly files: FilesFolder | null
  /** Writes one line to the cell's stdin. False when the pipe is full (back-pressure). */
  write(line: string): boolean
  /** Calls back when the pipe can take more lines, or is closed. */
  whenDrained(call: () => void): void
  closeInput(): void
  /** Sets the handler for lines of stdout, without the newline. Call it in the same tick as `start`. */
  onLine(handler: (line: string) => void): void
  /** Stops reading stdout until `resume`; lines of the current chunk (64 KiB) still arrive. */
  pause(): void
  resume(): void
  readonly exited: Promise<CellExit>
  /** Kills the cell and all its children; resolves when they have ended. The reason is added to the `stderr` of the exit. */
  kill(reason?: string): Promise<void>
}

export interface SandboxIsolation {
  network: boolean
  files: boolean
  processes: boolean
  environment: boolean
  syscalls: boolean
  warnings: string[]
}

export const fullIsolation = (): SandboxIsolation => ({
  network: true,
  files: true,
  processes: true,
  environment: true,
  syscalls: true,
  warnings: [],
})

export type SandboxKind = 'bwrap' | 'process' | 'runsc'

/**
 * cgroup: the kernel limits the memory and the number of the processes of a cell together. process: it limits each
 * process, and the service watches their sum. `reason` says why there is no cgroup.
 */
export interface CellLimiting {
  kind: 'cgroup' | 'process'
  reason: string | null
}

export type SandboxLog = (line: string, level: 'info' | 'warn') => void

export interface SandboxDriver {
  readonly kind: SandboxKind
  /** What is isolated; shown in /v1/meta and logged. */
  readonly isolation: SandboxIsolation
  /** Whether a cell can have a loopback port; the probe sets it. */
  canLoopback: boolean
  /** How the processes of a cell are limited together; shown in /v1/meta. */
  readonly limiting: CellLimiting
  /** The socket's path as the cell sees it. */
  socketPathInside(hostPath: string): string
  agentDirInside(hostPath: string): string
  customDirInside(hostPath: string): string
  /** A host folder for `customDir` with the present content of this folder. Remove it after the exit of the cell. */
  stageFolder(hostPath: string): StagedFolder
  /**
   * A new folder for one cell's socket: below `parent`, or below the system's temporary folder, or below /tmp, whichever
   * is the first that the cell's user can reach and whose path is short enough for a socket. Only that user may enter.
   * The caller removes it.
   */
  createSocketFolder(parent: string): string
  /** Makes the socket usable by the user of its folder only. Call it when the socket listens, before `start`. */
  prepareSocket(path: string): void
  /** Call it from the main thread: a cell is killed when the thread that started it ends. */
  start(spec: CellSpec): SandboxCell
}
