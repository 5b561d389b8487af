import type { ApprovalStatus, TaskStatus } from './api/types.ts'

/** What stands in the addresses of pages. */
export interface ApprovalsSearch {
  status?: ApprovalStatus
  id?: string
}

export interface TasksSearch {
  status?: TaskStatus
  wedge?: string
  client_id?: string
  case_id?: string
}

/** The sides of a page that has more than one. */
export type TaskTab = 'timeline' | 'trace' | 'effects' | 'output' | 'input' | 'events'
export type WedgeTab = 'about' | 'knowledge' | 'intake' | 'policy' | 'manifest'
export type SettingsTab = 'keys' | 'members' | 'projects' | 'service'

/**
 * The page to come back to after the sign-in, as it stands in the address of that; the home page needs no word. What a
 * browser would take for another site is no page.
 */
export function returnPath(path: unknown, origin: string): { to?: string } {
  if (typeof path !== 'string' || !path.startsWith('/') || !URL.canParse(path, origin)) return {}
  const url = new URL(path, origin)
  // Dots are gone only now, and two slashes at the beginning name a host.
  if (url.origin !== origin || url.pathname.startsWith('//')) return {}
  const to = url.pathname + url.search + url.hash
  return to === '/' ? {} : { to }
}

/** The router reads JSON in an address as what it means; a filter is passed on as it was written. */
export function whereParam({ where }: Record<string, unknown>): { where?: string } {
  return typeof where === 'object' && where !== null ? { where: JSON.stringify(where) } : textParam('where', { where })
}

/** What an address says under a name, if it is text; absent stays absent. */
export function textParam<K extends string>(name: K, search: Record<string, unknown>): { [P in K]?: string } {
  const value = search[name]
  return typeof value === 'string' && value !== '' ? withKey(name, value) : {}
}

/** The same, if it is one of these. */
export function enumParam<K extends string, T extends string>(
  name: K,
  values: readonly T[],
  search: Record<string, unknown>,
): { [P in K]?: T } {
  const value = values.find((value) => value === search[name])
  return value === undefined ? {} : withKey(name, value)
}

function withKey<K extends string, T>(name: K, value: T): { [P in K]?: T } {
  const entry: { [P in K]?: T } = {}
  entry[name] = value
  return entry
}
