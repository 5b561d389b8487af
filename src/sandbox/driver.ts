export interface CellSpec {
  /** sealed: node alone, no fork, no /proc. workshop: /usr, /bin, /lib* read-only, fork and exec, own /proc. */
  profile: 'sealed' | 'workshop'
  /** Program and arguments as seen inside; 'node' as first word means the service's own Node binary. */
  command: string[]
  /** Host folder that the cell sees read-only at /agent. */
  agentDir: string
  /** Host folder of a custom agent, seen read-only at /custom; the command then starts in it instead of in /tmp. */
  customDir?: string
  /** Host path of the Unix socket that the cell sees at /run/svc.sock, after `prepareSocket`; null: none at all. */
  socket: string | null
  limits: CellLimits
}

/**
 * memory, CPU seconds and file size count per process, and a workshop's processes together may hold twice the memory;
 * cpu_s 0 means no limit, for cells that live long.
 */
export interface CellLimits {
  memory_mb: number
  processes: number
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
  /** Writes one line to the cell's stdin. False when the pipe is full (back-pressure). */
  write(line: string): boolean
  /** Calls back when the pipe takes more, or never will. */
  whenDrained(call: () => void): void
  closeInput(): void
  /** Set it in the same tick as `start`, before any line arrives. Called per stdout line, without the newline. */
  onLine(handler: (line: string) => void): void
  /** Stops reading stdout, so that a flood cannot outrun the log; lines of the chunk at hand (64 KiB) still come. */
  pause(): void
  resume(): void
  readonly exited: Promise<CellExit>
  /** Kills the cell and all its children at once; resolves when they are gone. A reason stands in what is told of its exit. */
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

export type SandboxLog = (line: string, level: 'info' | 'warn') => void

export interface SandboxDriver {
  readonly kind: 'bwrap' | 'process'
  /** What is isolated and what not: shown in /v1/meta and logged. */
  readonly isolation: SandboxIsolation
  /** The socket's path as the cell sees it. */
  socketPathInside(hostPath: string): string
  agentDirInside(hostPath: string): string
  customDirInside(hostPath: string): string
  /**
   * A new folder for one cell's socket: below `parent`, or below the system's temporary folder, or below /tmp, whichever
   * is the first that the cell's user can reach and whose path is short enough for a socket. Only that user may enter.
   * The caller removes it.
   */
  createSocketFolder(parent: string): string
  /** To be called once the socket listens, before `start`: gives it to the user of its folder, and to nobody else. */
  prepareSocket(path: string): void
  /** To be called from the main thread: cells die with the thread that started them. */
  start(spec: CellSpec): SandboxCell
}
