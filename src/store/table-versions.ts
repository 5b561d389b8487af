import type { Tables } from './tables.ts'

/**
 * What a store knows of its own changes that one process alone writes. The stamp of tables grows with every change to
 * one of them, soon also with one that was made by hand; null while rows are being changed and are not committed.
 */
export interface TableVersions {
  versionOf(tables: readonly (keyof Tables)[]): number | null
}
