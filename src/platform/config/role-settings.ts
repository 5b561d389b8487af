import { readDatabaseUrl } from '../contract/database-url.ts'
import type { SettingsEnv } from '../contract/settings.ts'
import { choiceSetting, integerSetting, parseList } from './read-setting.ts'

/** What one replica does: `api` serves requests and the periodic work, `runner` executes tasks, `all` does both. */
type ReplicaRole = 'all' | 'api' | 'runner'

export interface RoleSettings {
  role: ReplicaRole
  /** 0: this replica runs no tasks. */
  maxConcurrentTasks: number
  runnerProjects: string[] | null
  runnerWedges: string[] | null
}

/** The only projects, or wedges, whose tasks a replica executes; null: all. */
export type RunnerLimits = Pick<RoleSettings, 'runnerProjects' | 'runnerWedges'>

export const takesTask = (
  { runnerProjects, runnerWedges }: RunnerLimits,
  { project_id, wedge }: { project_id: string; wedge: string },
): boolean => (runnerProjects?.includes(project_id) ?? true) && (runnerWedges?.includes(wedge) ?? true)

type WithRole = Pick<RoleSettings, 'role'>

export const servesApi = ({ role }: WithRole): boolean => role !== 'runner'
export const runsTasks = ({ role }: WithRole): boolean => role !== 'api'

/** Every pair of a project and a wedge is one search of the queue. */
const MAX_PAIRS = 200

export function readRoleSettings(env: SettingsEnv): RoleSettings {
  const role = choiceSetting(env, 'SVC_ROLE', ['all', 'api', 'runner'])
  const runnerProjects = listSetting(env, 'SVC_RUNNER_PROJECTS')
  const runnerWedges = listSetting(env, 'SVC_RUNNER_WEDGES')
  const maxTasks = integerSetting(env, 'SVC_MAX_CONCURRENT_TASKS', 8, role === 'runner' ? 1 : 0)
  const restricting = runnerProjects ? 'SVC_RUNNER_PROJECTS' : runnerWedges && 'SVC_RUNNER_WEDGES'
  if (!readDatabaseUrl(env)) {
    if (role !== 'all')
      throw new Error(`SVC_ROLE=${role} requires PostgreSQL (DATABASE_URL): with SQLite one process does all the work`)
    if (restricting)
      throw new Error(`${restricting} requires PostgreSQL (DATABASE_URL): with SQLite no other process runs the rest`)
  }
  if (role === 'api' && restricting) throw new Error(`${restricting} has no effect with SVC_ROLE=api: unset it`)
  if ((runnerProjects?.length ?? 1) * (runnerWedges?.length ?? 1) > MAX_PAIRS)
    throw new Error(`SVC_RUNNER_PROJECTS and SVC_RUNNER_WEDGES must make at most ${MAX_PAIRS} pairs`)
  return { role, maxConcurrentTasks: role === 'api' ? 0 : maxTasks, runnerProjects, runnerWedges }
}

function listSetting(env: SettingsEnv, name: 'SVC_RUNNER_PROJECTS' | 'SVC_RUNNER_WEDGES'): string[] | null {
  const names = [...new Set(parseList(env[name]))]
  return names.length > 0 ? names : null
}
