import { z } from 'zod'
import { ROLES } from '../../../platform/ctx/scope.ts'
import type { McpAppRow } from '../../../platform/store/tables.ts'
import { parseRedirectUris } from './apps.ts'
import type { listMcpAuthorisations } from './rows.ts'

export const ResourceMetadataView = z.object({
  resource: z.string(),
  resource_name: z.string(),
  authorization_servers: z.array(z.string()),
  bearer_methods_supported: z.array(z.string()),
})

export const ServerMetadataView = z.object({
  issuer: z.string(),
  authorization_endpoint: z.string(),
  token_endpoint: z.string(),
  registration_endpoint: z.string(),
  revocation_endpoint: z.string(),
  response_types_supported: z.array(z.string()),
  response_modes_supported: z.array(z.string()),
  grant_types_supported: z.array(z.string()),
  code_challenge_methods_supported: z.array(z.string()),
  token_endpoint_auth_methods_supported: z.array(z.string()),
  revocation_endpoint_auth_methods_supported: z.array(z.string()),
  authorization_response_iss_parameter_supported: z.boolean(),
})

export const McpAppView = z
  .object({
    client_id: z.string(),
    client_id_issued_at: z.number().int(),
    client_name: z.string(),
    redirect_uris: z.array(z.string()),
    grant_types: z.array(z.string()),
    response_types: z.array(z.string()),
    token_endpoint_auth_method: z.string(),
  })
  .meta({ id: 'McpApp' })

export const TokensView = z.object({
  access_token: z.string(),
  token_type: z.string(),
  expires_in: z.number().int(),
  refresh_token: z.string(),
  scope: z.string().meta({ description: 'The role that the member chose.' }),
})

export const RevokedView = z.object({})

export const OauthErrorView = z.object({ error: z.string(), error_description: z.string().optional() })

export const ConsentView = z
  .object({
    app: z.object({ name: z.string(), redirect_host: z.string() }),
    error: z.string().nullable().meta({ description: 'What is wrong with the request of the app; null: nothing.' }),
    return_url: z
      .string()
      .meta({ description: 'Returns to the app without access: the member refused, or the error.' }),
  })
  .meta({ id: 'McpConsent' })

export const AuthorisedView = z.object({ redirect_to: z.string() })

export const McpAuthorisationView = z
  .object({
    id: z.string(),
    project_id: z.string(),
    app: z.object({ id: z.string(), name: z.string() }),
    member: z.object({ id: z.string(), name: z.string() }),
    role: z.enum(ROLES),
    created_at: z.string(),
    last_used_at: z.string().nullable().meta({ description: 'When the app last got a token.' }),
  })
  .meta({ id: 'McpAuthorisation' })

export function toMcpAppView(app: McpAppRow): z.output<typeof McpAppView> {
  const { id, name, created_at } = app
  return {
    client_id: id,
    client_id_issued_at: Math.floor(Date.parse(created_at) / 1000),
    client_name: name,
    redirect_uris: parseRedirectUris(app),
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  }
}

type ListedAuthorisation = Awaited<ReturnType<typeof listMcpAuthorisations>>[number]

export const toMcpAuthorisationView = (row: ListedAuthorisation) => ({
  id: row.id,
  project_id: row.project_id,
  app: { id: row.app_id, name: row.app_name },
  member: { id: row.member_id, name: row.member_name ?? row.member_email },
  role: row.role,
  created_at: row.created_at,
  last_used_at: row.last_used_at,
})
