import { queryOptions } from '@tanstack/react-query'
import { callOperation } from './http.ts'
import { fetchList, pagedQuery } from './paging.ts'
import type { Schemas, WedgeSummary } from './types.ts'

/** Types and queries of connections, wedges, schedules, blueprints, projects, members and keys. */
export type Connection = Schemas.Connection
export type ConnectionKind = Connection['kind']

export type BrokerToolkit = Schemas.Toolkit

export type BrokerAuthorisation = Schemas.Authorisation

export type KnowledgeItem = Schemas.Knowledge

export type KnowledgeRevision = Schemas.KnowledgeRevision

export type WedgeDetail = Schemas.Wedge & WedgeSummary

export type IntakeQuestion = Schemas.IntakeQuestion

export type Intake = Schemas.Intake

export type PolicySimulation = Schemas.PolicySimulation

export type Policy = Schemas.Policy

export type Suggestions = Schemas.Suggestions
export type RuleSuggestion = Schemas.RuleSuggestion

export type Schedule = Schemas.Schedule

export type Cadence = Schedule['cadence']

export type Blueprint = Schemas.Blueprint

export type ReadinessFix = NonNullable<Schemas.ReadinessItem['fix']>

export type BlueprintReadiness = Schemas.Readiness

export type Member = Schemas.Member

export type ApiKey = Schemas.Key

export type ConnectedApp = Schemas.McpAuthorisation

export const connectionsQuery = queryOptions({
  queryKey: ['connections'],
  queryFn: ({ signal }) => fetchList('listConnections', {}, { signal }),
})

export const clientConnectionsQuery = (clientId: string) =>
  queryOptions({
    queryKey: ['connections', 'client', clientId],
    queryFn: ({ signal }) => fetchList('listConnections', { client_id: clientId }, { signal }),
  })

export const toolkitsQuery = (text: string) =>
  queryOptions({
    queryKey: ['toolkits', text],
    queryFn: ({ signal }) => fetchList('listToolkits', { search: text, limit: 20 }, { signal }),
    staleTime: 60_000,
  })

export const wedgeQuery = (wedge: string) =>
  queryOptions({
    queryKey: ['wedges', 'one', wedge],
    queryFn: ({ signal }) => callOperation('getWedge', { wedge }, { signal }) as Promise<WedgeDetail>,
  })

/** The auto-approve rules that apply in the project. */
export const policyQuery = (wedge: string) =>
  queryOptions({
    queryKey: ['policies', wedge],
    queryFn: ({ signal }) => callOperation('getPolicy', { wedge }, { signal }),
  })

/** The service reads the whole history for it, so it is not asked again at every visit. */
export const suggestionsQuery = (wedge: string) =>
  queryOptions({
    queryKey: ['policies', wedge, 'suggestions'],
    queryFn: ({ signal }) => callOperation('listSuggestions', { wedge }, { signal }),
    staleTime: 60_000,
  })

export const revisionsQuery = (id: string) => pagedQuery(['wedges', 'revisions', id], 'listKnowledgeRevisions', { id })

export const intakeQuery = (wedge: string) =>
  queryOptions({
    queryKey: ['wedges', 'intake', wedge],
    queryFn: ({ signal }) => callOperation('getIntake', { wedge }, { signal }),
  })

export const schedulesQuery = queryOptions({
  queryKey: ['schedules'],
  queryFn: ({ signal }) => fetchList('listSchedules', {}, { signal }),
})

export const blueprintsQuery = queryOptions({
  queryKey: ['blueprints', 'all'],
  queryFn: ({ signal }) => fetchList('listBlueprints', {}, { signal }),
})

export const readinessQuery = (blueprint: string) =>
  queryOptions({
    queryKey: ['blueprints', 'readiness', blueprint],
    queryFn: ({ signal }) => callOperation('getBlueprintReadiness', { slug: blueprint }, { signal }),
  })

export type Brand = Schemas.Brand

export const brandQuery = queryOptions({
  queryKey: ['brand'],
  queryFn: ({ signal }) => callOperation('getBrand', {}, { signal }),
})

export const projectsQuery = queryOptions({
  queryKey: ['projects'],
  queryFn: ({ signal }) => fetchList('listProjects', {}, { signal, allProjects: true }),
})

export const membersQuery = queryOptions({
  queryKey: ['members'],
  queryFn: ({ signal }) => fetchList('listMembers', {}, { signal }),
})

export const keysQuery = queryOptions({
  queryKey: ['keys'],
  queryFn: ({ signal }) => fetchList('listKeys', {}, { signal }),
})

export const connectedAppsQuery = queryOptions({
  queryKey: ['connected-apps'],
  queryFn: ({ signal }) => fetchList('listMcpAuthorisations', {}, { signal }),
})

/** What an app asks for; `request` is the query with which it opened the consent page. */
/** The query with which an app opened the consent page. The service checks it. */
export const consentParams = (request: string) =>
  Object.fromEntries(new URLSearchParams(request)) as Pick<
    Schemas.CreateMcpAuthorisationRequest,
    'client_id' | 'redirect_uri'
  >

export const consentQuery = (request: string) =>
  queryOptions({
    queryKey: ['consent', request],
    queryFn: ({ signal }) => callOperation('getMcpConsent', consentParams(request), { signal, allProjects: true }),
    retry: false,
  })
