import { queryOptions } from '@tanstack/react-query'
import { callApi } from './http.ts'
import { fetchList, pagedQuery } from './paging.ts'
import type { ApprovalStatus, Json, JsonObject, Project, Role, WedgeSummary } from './types.ts'

/** Types and queries of connections, wedges, schedules, blueprints, projects, members and keys. */
export const CONNECTION_KINDS = ['email', 'webhook', 'custom', 'broker'] as const
export type ConnectionKind = (typeof CONNECTION_KINDS)[number]

export interface Connection {
  id: string
  kind: ConnectionKind
  name: string
  client_id: string | null
  config: JsonObject
  secret_ref: string | null
  has_secret: boolean
  status: 'connected' | 'needs_secret' | 'needs_authorisation'
  last_ok_at: string | null
  last_error: string | null
}

export interface BrokerToolkit {
  slug: string
  name: string
  description: string | null
}

export interface BrokerAuthorisation {
  connection_id: string
  redirect_url: string | null
}

export interface KnowledgeItem {
  id: string
  name: string
  content: string
  kind: string
  version: number
  updated_at: string
}

export interface KnowledgeRevision {
  version: number
  name: string
  content: string
  kind: string
  by: { kind: string; id: string }
  at: string
}

export interface WedgeDetail extends WedgeSummary {
  skills: { name: string; content: string }[]
  knowledge: { authored: { name: string; content: string }[]; live: KnowledgeItem[] }
}

export interface IntakeQuestion {
  id: string
  question: string
  why: string | null
  kind: 'seed' | 'gap'
  status: 'open' | 'answered' | 'dismissed'
  answer: string | null
  asked: number
}

export interface Intake {
  coverage: number
  questions: IntakeQuestion[]
}

export interface PolicySimulation {
  checked: number
  would_pass: number
  would_gate: number
  results: { approval_id: string; action: string; status: ApprovalStatus; would: 'pass' | 'gate'; reason: string }[]
}

export interface Schedule {
  id: string
  name: string
  wedge: string
  task_type: string
  cadence: Cadence
  input: Json
  enabled: boolean
  next_run_at: string | null
  last_run_at: string | null
  last_task_id: string | null
  last_error: string | null
}

export type Cadence =
  | { kind: 'every'; seconds: number }
  | { kind: 'daily'; hour: number; minute: number }
  | { kind: 'monthly'; day: number; hour: number; minute: number }

export interface Blueprint {
  blueprint: string
  title: string
  summary: string
  sells_as: string
  wedge: string
  installed: boolean
  active: boolean
}

export interface ReadinessFix {
  method: 'GET' | 'POST' | 'PUT'
  path: string
  body: JsonObject | null
}

export interface BlueprintReadiness {
  ready: boolean
  items: { item: string; kind: string; ok: boolean; detail: string; fix: ReadinessFix | null }[]
  warnings: string[]
}

export interface Member {
  id: string
  email: string
  name: string | null
  role: Role
  status: 'invited' | 'active'
}

export interface ApiKey {
  id: string
  name: string
  role: Role
  hint: string
  created_at: string
  last_used_at: string | null
}

export const connectionsQuery = queryOptions({
  queryKey: ['connections'],
  queryFn: ({ signal }) => fetchList<Connection>('/v1/connections', { signal }),
})

export const toolkitsQuery = (text: string) =>
  queryOptions({
    queryKey: ['toolkits', text],
    queryFn: ({ signal }) => fetchList<BrokerToolkit>('/v1/broker/toolkits', { signal }, { search: text, limit: 20 }),
    staleTime: 60_000,
  })

export const wedgeQuery = (wedge: string) =>
  queryOptions({
    queryKey: ['wedges', 'one', wedge],
    queryFn: ({ signal }) => callApi<WedgeDetail>(`/v1/wedges/${wedge}`, { signal }),
  })

export const revisionsQuery = (id: string) =>
  pagedQuery<KnowledgeRevision>(['wedges', 'revisions', id], `/v1/knowledge/${id}/revisions`)

export const intakeQuery = (wedge: string) =>
  queryOptions({
    queryKey: ['wedges', 'intake', wedge],
    queryFn: ({ signal }) => callApi<Intake>(`/v1/wedges/${wedge}/intake`, { signal }),
  })

export const schedulesQuery = queryOptions({
  queryKey: ['schedules'],
  queryFn: ({ signal }) => fetchList<Schedule>('/v1/schedules', { signal }),
})

export const blueprintsQuery = queryOptions({
  queryKey: ['blueprints', 'all'],
  queryFn: ({ signal }) => fetchList<Blueprint>('/v1/blueprints', { signal }),
})

export const readinessQuery = (blueprint: string) =>
  queryOptions({
    queryKey: ['blueprints', 'readiness', blueprint],
    queryFn: ({ signal }) => callApi<BlueprintReadiness>(`/v1/blueprints/${blueprint}/readiness`, { signal }),
  })

export const projectsQuery = queryOptions({
  queryKey: ['projects'],
  queryFn: ({ signal }) => fetchList<Project>('/v1/projects', { signal, allProjects: true }),
})

export const membersQuery = queryOptions({
  queryKey: ['members'],
  queryFn: ({ signal }) => fetchList<Member>('/v1/members', { signal }),
})

export const keysQuery = queryOptions({
  queryKey: ['keys'],
  queryFn: ({ signal }) => fetchList<ApiKey>('/v1/keys', { signal }),
})
