import { type Problem, tooManyRequests } from '../../platform/base/problem.ts'
import type { Config } from '../../platform/config/config.ts'
import type { Ctx, Tx } from '../../platform/ctx/ctx.ts'
import { GroupCommitCache } from '../../platform/store/group-commit-state.ts'
import type { Db } from '../../platform/store/store.ts'
import { addStoredBytes, addStoredBytesWithin, findStoredBytes, listProjectsStoring } from './storage-rows.ts'

const BYTES_PER_MB = 1024 * 1024

/** What the transactions of one commit add to a project, and whether one of them must stay within the limit. */
interface CommitBytes {
  bytes: number
  isLimited: boolean
}

const bytesOfCommit = new GroupCommitCache<CommitBytes>()

/**
 * Counts bytes of records, events and files in the commit that stores or removes them. The commit writes the row of the
 * project once and last, so other commits wait for it only as long as the commit takes.
 */
export function countStoredBytes(tx: Tx, projectId: string, bytes: number): void {
  if (bytes !== 0) addToCommit(tx, projectId, { bytes, isLimited: false })
}

/** Like `countStoredBytes`, but the transaction fails with a 429 if the project would exceed its limit. */
export function reserveStoredBytes(tx: Tx, projectId: string, bytes: number): void {
  if (bytes !== 0) addToCommit(tx, projectId, { bytes, isLimited: bytes > 0 && tx.config.maxProjectMb > 0 })
}

function addToCommit(tx: Tx, projectId: string, added: CommitBytes): void {
  const before = bytesOfCommit.get(tx.groupCommit, projectId)
  const sum = {
    bytes: (before?.bytes ?? 0) + added.bytes,
    isLimited: added.isLimited || (before?.isLimited ?? false),
  }
  bytesOfCommit.set(tx.groupCommit, projectId, sum)
  tx.groupCommit.writeAtEnd(`stored bytes of ${projectId}`, (db) => writeStoredBytes(db, tx.config, projectId, sum))
}

async function writeStoredBytes(db: Db, config: Config, project_id: string, { bytes, isLimited }: CommitBytes) {
  await addStoredBytes(db, { project_id, bytes: isLimited ? 0 : bytes })
  if (!isLimited) return
  const [within] = await addStoredBytesWithin(db, { project_id, bytes, max: maxProjectBytes(config) })
  if (!within) throw projectStorageFull(config)
}

/** 429 if the project has reached its limit, as far as this replica knows. */
export function refuseIfStorageFull(ctx: Pick<Ctx, 'fullProjects' | 'config'>, projectId: string): void {
  if (ctx.fullProjects.has(projectId)) throw projectStorageFull(ctx.config)
}

/** Creating a task must not wait for a query, so the projects that have reached their limit are in memory. */
export async function refreshFullProjects(ctx: Ctx): Promise<void> {
  const full = await listProjectsStoring(ctx.db, { min: maxProjectBytes(ctx.config) })
  ctx.fullProjects.clear()
  for (const { project_id } of full) ctx.fullProjects.add(project_id)
}

export async function readStorageUsage({ db, config }: Pick<Ctx, 'db' | 'config'>, projectId: string) {
  const max_stored_bytes = config.maxProjectMb === 0 ? null : maxProjectBytes(config)
  return { stored_bytes: await findStoredBytes(db, projectId), max_stored_bytes }
}

/** Counts what a run stores. False if it would exceed the limit of a run; then nothing is counted. */
export function countRunBytes(config: Config, run: { storedBytes: number }, bytes: number): boolean {
  if (config.maxRunMb > 0 && run.storedBytes + bytes > config.maxRunMb * BYTES_PER_MB) return false
  run.storedBytes += bytes
  return true
}

export const runStorageSentence = ({ maxRunMb }: Config) =>
  `the run stored more than ${maxRunMb} MB of records, events and files (SVC_MAX_RUN_MB)`

export const runStorageFull = (config: Config): Problem => tooManyRequests(runStorageSentence(config), 60)

const maxProjectBytes = ({ maxProjectMb }: Config) => maxProjectMb * BYTES_PER_MB

const projectStorageFull = ({ maxProjectMb }: Config): Problem =>
  tooManyRequests(
    `the project stores more than ${maxProjectMb} MB of records, events and files (SVC_MAX_PROJECT_MB): delete records or shorten SVC_RETENTION_DAYS`,
    60,
  )
