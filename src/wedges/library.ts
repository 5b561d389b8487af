import { join } from 'node:path'
import type { Logger } from 'pino'
import { isSlug } from '../base/slug.ts'
import type { Wedge, WedgeProblem, WedgeLibrary } from '../contract/wedge-manifest.ts'
import { fingerprintWedge, scanWedgeFolders } from './wedge-files.ts'
import { type WedgeReadResult, readWedge } from './read-wedge.ts'
import { FolderWatcher } from './folder-watcher.ts'

/** How often the folder is looked through, for changes that the operating system does not tell. */
const SCAN_INTERVAL_MS = 1000
/** Copying a folder tells many times: one look serves them all. */
const DEBOUNCE_MS = 50

export type LibraryLog = Pick<Logger, 'info' | 'error'>

export async function openWedgeLibrary(dir: string, log: LibraryLog): Promise<FolderLibrary> {
  const shelf = new FolderLibrary(dir, log)
  await shelf.refresh()
  return shelf
}

/** A folder and what was in it when its files bore these marks. */
interface LoadedFolder extends WedgeReadResult {
  mark: string
  folders: string[]
}

/**
 * The wedges of a folder. What changed is read into a new object and put in the place of the old one, which running
 * tasks keep; what did not change stays the same object.
 */
export class FolderLibrary implements WedgeLibrary {
  readonly #dir: string
  readonly #log: LibraryLog
  readonly #watch: FolderWatcher
  #places = new Map<string, LoadedFolder>()
  #reading: Promise<void> | null = null
  #again: Promise<void> | null = null
  #complaint = ''
  #timer: NodeJS.Timeout | null = null
  #soon: NodeJS.Timeout | null = null

  constructor(dir: string, log: LibraryLog) {
    this.#dir = dir
    this.#log = log
    this.#watch = new FolderWatcher(() => this.#refreshSoon())
  }

  get(slug: string): Wedge | undefined {
    return this.#places.get(slug)?.wedge ?? undefined
  }

  async find(slug: string): Promise<Wedge | undefined> {
    const wedge = this.get(slug)
    if (wedge || !isSlug(slug)) return wedge
    await this.refresh()
    return this.get(slug)
  }

  all(): Wedge[] {
    return [...this.#places.values()].flatMap(({ wedge }) => wedge ?? [])
  }

  problems(): WedgeProblem[] {
    return [...this.#places].flatMap(([wedge, { problems }]) => problems.map((problem) => ({ wedge, problem })))
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.refresh(), SCAN_INTERVAL_MS).unref()
    this.#follow()
  }

  stop(): void {
    if (this.#timer) clearInterval(this.#timer)
    if (this.#soon) clearTimeout(this.#soon)
    this.#timer = null
    this.#soon = null
    this.#watch.watchFolders([])
  }

  /** Resolves after a look that began no earlier than this call; any number of callers share one. */
  refresh(): Promise<void> {
    if (!this.#reading) {
      this.#reading = this.#look().finally(() => {
        this.#reading = null
      })
      return this.#reading
    }
    this.#again ??= this.#reading.then(() => {
      this.#again = null
      return this.refresh()
    })
    return this.#again
  }

  async #look(): Promise<void> {
    try {
      const slugs = await scanWedgeFolders(this.#dir)
      const places = new Map<string, LoadedFolder>()
      for (const slug of slugs ?? []) places.set(slug, await this.#place(slug))
      this.#tell(places)
      this.#places = places
      if (this.#timer) this.#follow()
      this.#complain(slugs ? '' : `the wedges folder ${this.#dir} does not exist`)
    } catch (error) {
      // What was read before stays: a process without free file handles must not lose its wedges.
      this.#complain(`the wedges folder cannot be looked through: ${String(error)}`)
    }
  }

  /** The marks are taken before the files are read, so a change in between is seen at the next look. */
  async #place(slug: string): Promise<LoadedFolder> {
    const { mark, folders } = await fingerprintWedge(join(this.#dir, slug))
    const known = this.#places.get(slug)
    if (known?.mark === mark) return known
    return { mark, folders, ...(await readWedge(this.#dir, slug)) }
  }

  #tell(places: Map<string, LoadedFolder>): void {
    for (const [slug, place] of places) {
      if (this.#places.get(slug) === place) continue
      if (place.wedge) this.#log.info({ wedge: slug }, 'wedge read')
      for (const problem of place.problems) this.#log.error({ wedge: slug, problem }, `wedge '${slug}': ${problem}`)
    }
    for (const slug of this.#places.keys()) if (!places.has(slug)) this.#log.info({ wedge: slug }, 'wedge gone')
  }

  #complain(complaint: string): void {
    if (complaint && complaint !== this.#complaint) this.#log.error(complaint)
    this.#complaint = complaint
  }

  #follow(): void {
    this.#watch.watchFolders([this.#dir, ...[...this.#places.values()].flatMap(({ folders }) => folders)])
  }

  #refreshSoon(): void {
    this.#soon ??= setTimeout(() => {
      this.#soon = null
      void this.refresh()
    }, DEBOUNCE_MS).unref()
  }
}
