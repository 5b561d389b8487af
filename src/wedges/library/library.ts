import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Logger } from 'pino'
import { isSlug } from '../../platform/base/text.ts'
import {
  type FileProblem,
  problemText,
  type Wedge,
  type WedgeLibrary,
  type WedgeProblem,
} from '../../platform/contract/wedge/wedge-manifest.ts'
import { FolderWatcher } from './folder-watcher.ts'
import { type ManifestLimits, readWedge, type WedgeReadResult } from './read-wedge.ts'
import { fingerprintWedge, scanWedgeFolders } from './wedge-files.ts'

/** Scans find changes that the operating system does not report. */
const SCAN_INTERVAL_MS = 1000
/** Copying a folder reports many changes; one scan handles them together. */
const DEBOUNCE_MS = 50

export type LibraryLog = Pick<Logger, 'info' | 'error'>

export async function openWedgeLibrary(
  dir: string,
  log: LibraryLog,
  limits: ManifestLimits = {},
): Promise<FolderLibrary> {
  const library = new FolderLibrary(dir, log, limits)
  await library.refresh()
  return library
}

/** What was read from a folder, and the fingerprint of its files at that time. */
interface LoadedFolder extends WedgeReadResult {
  fingerprint: string
  folders: string[]
  agentProblems: FileProblem[]
}

/**
 * The wedges of a folder, re-read when files change. A changed wedge becomes a new object, so that running tasks keep the
 * old one; an unchanged wedge stays the same object.
 */
export class FolderLibrary implements WedgeLibrary {
  readonly #dir: string
  readonly #log: LibraryLog
  readonly #limits: ManifestLimits
  readonly #watcher: FolderWatcher
  #loaded = new Map<string, LoadedFolder>()
  #scanning: Promise<void> | null = null
  #nextScan: Promise<void> | null = null
  #lastError = ''
  #scanTimer: NodeJS.Timeout | null = null
  #debounceTimer: NodeJS.Timeout | null = null

  constructor(dir: string, log: LibraryLog, limits: ManifestLimits) {
    this.#dir = dir
    this.#log = log
    this.#limits = limits
    this.#watcher = new FolderWatcher(() => this.#refreshSoon())
  }

  get(slug: string): Wedge | undefined {
    return this.#loaded.get(slug)?.wedge ?? undefined
  }

  async find(slug: string): Promise<Wedge | undefined> {
    const wedge = this.get(slug)
    if (wedge || !isSlug(slug)) return wedge
    await this.refresh()
    return this.get(slug)
  }

  all(): Wedge[] {
    return [...this.#loaded.values()].flatMap(({ wedge }) => wedge ?? [])
  }

  problems(): WedgeProblem[] {
    return [...this.#loaded].flatMap(([wedge, { problems, agentProblems }]) =>
      [...problems, ...agentProblems].map((problem) => ({ wedge, ...problem })),
    )
  }

  /** Replaces what is known about the agents of a wedge. Has no effect if the wedge has changed meanwhile. */
  setAgentProblems(wedge: Wedge, problems: FileProblem[]): void {
    const folder = this.#loaded.get(wedge.slug)
    if (folder?.wedge === wedge) folder.agentProblems = problems
  }

  start(): void {
    this.#scanTimer ??= setInterval(() => void this.refresh(), SCAN_INTERVAL_MS).unref()
    this.#watchLoadedFolders()
  }

  stop(): void {
    if (this.#scanTimer) clearInterval(this.#scanTimer)
    if (this.#debounceTimer) clearTimeout(this.#debounceTimer)
    this.#scanTimer = null
    this.#debounceTimer = null
    this.#watcher.watchFolders([])
  }

  /** Resolves after a scan that started after this call; concurrent callers share one scan. */
  refresh(): Promise<void> {
    if (!this.#scanning) {
      this.#scanning = this.#scan().finally(() => {
        this.#scanning = null
      })
      return this.#scanning
    }
    this.#nextScan ??= this.#scanning.then(() => {
      this.#nextScan = null
      return this.refresh()
    })
    return this.#nextScan
  }

  async #scan(): Promise<void> {
    try {
      const slugs = await scanWedgeFolders(this.#dir)
      const loaded = new Map<string, LoadedFolder>()
      for (const slug of slugs ?? []) loaded.set(slug, await this.#load(slug))
      this.#logChanges(loaded)
      this.#loaded = loaded
      if (this.#scanTimer) this.#watchLoadedFolders()
      this.#logError(slugs ? '' : `the wedges folder ${this.#dir} does not exist`)
    } catch (error) {
      // Keeps the loaded wedges: a process without free file handles must not lose them.
      this.#logError(`the wedges folder cannot be read: ${String(error)}`)
    }
  }

  /** Takes the fingerprint before reading, so that the next scan notices a change in between. */
  async #load(slug: string, agentDirs = agentDirsOf(this.#loaded.get(slug))): Promise<LoadedFolder> {
    const { fingerprint, folders } = await fingerprintWedge(join(this.#dir, slug), agentDirs)
    const known = this.#loaded.get(slug)
    if (known?.fingerprint === fingerprint) return known
    const read = await readWedge(this.#dir, slug, this.#limits)
    const found = agentDirsOf(read)
    // Only the manifest tells the folders of agents, and the fingerprint must cover their files.
    if (read.wedge && !isDeepStrictEqual(found, agentDirs)) return this.#load(slug, found)
    return { fingerprint, folders, agentProblems: [], ...read }
  }

  #logChanges(loaded: Map<string, LoadedFolder>): void {
    for (const [slug, folder] of loaded) {
      if (this.#loaded.get(slug) === folder) continue
      if (folder.wedge) this.#log.info({ wedge: slug }, 'wedge loaded')
      for (const problem of folder.problems) {
        this.#log.error({ wedge: slug, ...problem }, `wedge '${slug}': ${problemText(problem)}`)
      }
    }
    for (const slug of this.#loaded.keys()) if (!loaded.has(slug)) this.#log.info({ wedge: slug }, 'wedge removed')
  }

  #logError(error: string): void {
    if (error && error !== this.#lastError) this.#log.error(error)
    this.#lastError = error
  }

  #watchLoadedFolders(): void {
    this.#watcher.watchFolders([this.#dir, ...[...this.#loaded.values()].flatMap(({ folders }) => folders)])
  }

  #refreshSoon(): void {
    this.#debounceTimer ??= setTimeout(() => {
      this.#debounceTimer = null
      void this.refresh()
    }, DEBOUNCE_MS).unref()
  }
}

const agentDirsOf = (read: WedgeReadResult | undefined): string[] =>
  Object.values(read?.wedge?.agents ?? {}).map(({ path }) => path)
