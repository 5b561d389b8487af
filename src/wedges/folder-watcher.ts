import { type FSWatcher, watch } from 'node:fs'

/** Tells soon after something changed in the followed folders. A hint only: some file systems never tell. */
export class FolderWatcher {
  readonly #watchers = new Map<string, FSWatcher>()
  readonly #changed: () => void

  constructor(changed: () => void) {
    this.#changed = changed
  }

  /** Follows exactly these folders from now on. */
  watchFolders(folders: string[]): void {
    const wanted = new Set(folders)
    for (const folder of this.#watchers.keys()) if (!wanted.has(folder)) this.#drop(folder)
    for (const folder of wanted) if (!this.#watchers.has(folder)) this.#add(folder)
  }

  #add(folder: string): void {
    try {
      const watcher = watch(folder, { persistent: false }, this.#changed)
      watcher.on('error', () => this.#drop(folder))
      this.#watchers.set(folder, watcher)
    } catch {
      // Gone already, or no watches are left: whoever asks also looks by itself.
    }
  }

  #drop(folder: string): void {
    this.#watchers.get(folder)?.close()
    this.#watchers.delete(folder)
  }
}
