import { queryOptions } from '@tanstack/react-query'
import { callApi } from './http.ts'
import { fetchList, pagedQuery } from './paging.ts'
import type { Json, JsonObject, Project, Schemas, WedgeSummary } from './types.ts'

/** Types and queries of connections, wedges, schedules, blueprints, projects, members and keys. */
export type Connection = Schemas['Connection']
export type ConnectionKind = Connection['kind']

export type BrokerToolkit = Schemas['Toolkit']

export type BrokerAuthorisation = Schemas['Authorisation']

export type KnowledgeItem = Schemas['Knowledge']

export type KnowledgeRevision = Schemas['KnowledgeRevision']

export interface WedgeDetail extends WedgeSummary {
  task_types: Record<string, { example: Json }>
  skills: { name: string; content: string }[]
  skill_folders: Schemas['SkillFolder'][]
  knowledge: { authored: { name: string; content: string }[]; live: KnowledgeItem[] }
}

export type IntakeQuestion = Schemas['IntakeQuestion']

export type Intake = Schemas['Intake']

export type PolicySimulation = Schemas['PolicySimulation']

export type Policy = Schemas['Policy']

export type Suggestions = Schemas['Suggestions']
export type RuleSuggestion = Schemas['RuleSuggestion']

export type Schedule = Schemas['Schedule']

export type Cadence = Schedule['cadence']

export type Blueprint = Schemas['Blueprint']

export interface ReadinessFix {
  method: 'GET' | 'POST' | 'PUT'
  path: string
  body: JsonObject | null
}

export type BlueprintReadiness = Schemas['Readiness']

export type Member = Schemas['Member']

export type ApiKey = Schemas['Key']

export type ConnectedApp = Schemas['McpAuthorisation']

export const connectionsQuery = queryOptions({
  queryKey: ['connections'],
  queryFn: ({ signal }) => fetchList<Connection>('/v1/connections', { signal }),
})

export const clientConnectionsQuery = (clientId: string) =>
  queryOptions({
    queryKey: ['connections', 'client', clientId],
    queryFn: ({ signal }) => fetchList<Connection>('/v1/connections', { signal }, { client_id: clientId }),
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

/** The auto-approve rules that apply in the project. */
export const policyQuery = (wedge: string) =>
  queryOptions({
    queryKey: ['policies', wedge],
    queryFn: ({ signal }) => callApi<Policy>(`/v1/wedges/${wedge}/policy`, { signal }),
  })

/** The service reads the whole history for it, so it is not asked again at every visit. */
export const suggestionsQuery = (wedge: string) =>
  queryOptions({
    queryKey: ['policies', wedge, 'suggestions'],
    queryFn: ({ signal }) => callApi<Suggestions>(`/v1/wedges/${wedge}/suggestions`, { signal }),
    staleTime: 60_000,
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

export type Brand = Schemas['Brand']

export const brandQuery = queryOptions({
  queryKey: ['brand'],
  queryFn: ({ signal }) => callApi<Brand>('/v1/brand', { signal }),
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

export const connectedAppsQuery = queryOptions({
  queryKey: ['connected-apps'],
  queryFn: ({ signal }) => fetchList<ConnectedApp>('/v1/mcp-authorisations', { signal }),
})

/** What an app asks for; `request` is the query with which it opened the consent page. */
export const consentQuery = (request: string) =>
  queryOptions({
    queryKey: ['consent', request],
    queryFn: ({ signal }) =>
      callApi<Schemas['McpConsent']>(`/v1/mcp-oauth/consent?${request}`, { signal, allProjects: true }),
    retry: false,
  })
