import type { RunnerLimits } from '../../../platform/config/role-settings.ts'
import type { Db } from '../../../platform/store/store.ts'
import type { QueuedTask } from '../../../platform/store/tables.ts'
import { findNextQueuedProject, hasClaimableTask, lockQueuedTasks, lockReleasedTasks } from './claim-rows.ts'
import { limitedClaimQueries } from './limited-claim-rows.ts'

/** A project with tasks to claim, and the wedge whose tasks are next; null: tasks of all wedges are. */
export interface QueuedProject {
  project_id: string
  wedge: string | null
}

/** How a replica finds the tasks that it may claim. */
export interface ClaimQueries {
  hasClaimableTask(db: Db, now: string): Promise<boolean>
  /** The next project after the one that was served last, in a circle. */
  findNextProject(db: Db, after: string, now: string): Promise<QueuedProject | undefined>
  lockReleasedTasks(db: Db, limit: number): Promise<QueuedTask[]>
  /** The oldest tasks that can be claimed, at most `limit`: 1, 2, 4 or 8. */
  lockQueuedTasks(db: Db, project: QueuedProject, now: string, limit: QueuedLimit): Promise<QueuedTask[]>
}

export type QueuedLimit = 1 | 2 | 4 | 8

export const createClaimQueries = (limits: RunnerLimits): ClaimQueries =>
  isLimited(limits) ? limitedClaimQueries(limits) : CLAIM_ALL

const isLimited = ({ runnerProjects, runnerWedges }: RunnerLimits) => runnerProjects !== null || runnerWedges !== null

const QUEUED_READERS = { 1: lockQueuedTasks(1), 2: lockQueuedTasks(2), 4: lockQueuedTasks(4), 8: lockQueuedTasks(8) }

const CLAIM_ALL: ClaimQueries = {
  async hasClaimableTask(db, now) {
    const [first] = await hasClaimableTask(db, { now })
    return Boolean(first?.claimable)
  },
  async findNextProject(db, after, now) {
    const [next] = await findNextQueuedProject(db, { after, now })
    return next?.project_id ? { project_id: next.project_id, wedge: null } : undefined
  },
  lockReleasedTasks: (db, limit) => lockReleasedTasks(db, { limit }),
  lockQueuedTasks: (db, { project_id }, now, limit) => QUEUED_READERS[limit](db, { project_id, now }),
}
