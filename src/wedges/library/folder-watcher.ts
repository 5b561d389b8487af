import { type FSWatcher, watch } from 'node:fs'

/** Calls back soon after a change in the watched folders. Only a hint: some file systems report nothing. */
export class FolderWatcher {
  readonly #watchers = new Map<string, FSWatcher>()
  readonly #onChange: () => void

  constructor(onChange: () => void) {
    this.#onChange = onChange
  }

  /** Watches exactly these folders from now on. */
  watchFolders(folders: string[]): void {
    const wanted = new Set(folders)
    for (const folder of this.#watchers.keys()) if (!wanted.has(folder)) this.#remove(folder)
    for (const folder of wanted) if (!this.#watchers.has(folder)) this.#add(folder)
  }

  #add(folder: string): void {
    try {
      const watcher = watch(folder, { persistent: false }, this.#onChange)
      watcher.on('error', () => this.#remove(folder))
      this.#watchers.set(folder, watcher)
    } catch {
      // The folder was removed, or the system has no watches left: the periodic scan finds changes anyway.
    }
  }

  #remove(folder: string): void {
    this.#watchers.get(folder)?.close()
    this.#watchers.delete(folder)
  }
}
