import type { ApprovalStatus, TaskStatus } from './api/types.ts'

/** The search parameters of the page URLs. */
export interface ApprovalsSearch {
  status?: ApprovalStatus
  assignee?: 'me'
  id?: string
}

export const CONVERSATION_FILTERS = ['open', 'unread', 'unanswered', 'mine', 'closed'] as const
export type ConversationFilter = (typeof CONVERSATION_FILTERS)[number]

export interface ConversationsSearch {
  filter?: ConversationFilter
  q?: string
}

export interface TasksSearch {
  status?: TaskStatus
  wedge?: string
  client_id?: string
  case_id?: string
}

/** What the OAuth callback reports to the page that it returns to. */
export interface OauthSearch {
  oauth?: 'connected'
  oauth_error?: string
}

export type TaskTab = 'timeline' | 'trace' | 'effects' | 'output' | 'input' | 'events'
export type WedgeTab = 'about' | 'knowledge' | 'intake' | 'policy' | 'manifest'
export type SettingsTab = 'keys' | 'members' | 'projects' | 'notifications' | 'brand' | 'service'

/** The page to open after the sign-in, for the URL of the sign-in page. Empty for the home page and for other sites. */
export function returnPath(path: unknown, origin: string): { to?: string } {
  if (typeof path !== 'string' || !path.startsWith('/') || !URL.canParse(path, origin)) return {}
  const url = new URL(path, origin)
  // Checked after parsing, which resolves dots: a path that starts with two slashes names another host.
  if (url.origin !== origin || url.pathname.startsWith('//')) return {}
  const to = url.pathname + url.search + url.hash
  return to === '/' ? {} : { to }
}

/** The router parses JSON in a URL; the filter is sent to the API as text again. */
export function whereParam({ where }: Record<string, unknown>): { where?: string } {
  return typeof where === 'object' && where !== null ? { where: JSON.stringify(where) } : textParam('where', { where })
}

/** A text parameter; absent when it is empty or of another type. */
export function textParam<K extends string>(name: K, search: Record<string, unknown>): { [P in K]?: string } {
  const value = search[name]
  return typeof value === 'string' && value !== '' ? withKey(name, value) : {}
}

/** A parameter with a fixed set of values; absent for any other value. */
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
