import { createHash } from 'node:crypto'
import { type AuditedCall, onProject } from './audited-call.ts'
import { IDLE, type PopulatedApp } from './populated-app.ts'

const REDIRECT_URI = 'https://assistant.example/callback'
const VERIFIER = 'v'.repeat(43)
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

/** The request of a registered app for access. */
async function requestAccess(app: PopulatedApp) {
  const registered = await app.call('POST', '/v1/mcp-oauth/register', { redirect_uris: [REDIRECT_URI] }, { key: null })
  const code_challenge = createHash('sha256').update(VERIFIER).digest('base64url')
  const project_id = (await app.call('GET', '/v1/projects')).body.data[0].id
  return {
    client_id: registered.body.client_id,
    redirect_uri: REDIRECT_URI,
    response_type: 'code',
    code_challenge,
    code_challenge_method: 'S256',
    project_id,
    role: 'viewer',
  }
}

/** An authorisation, and the fields with which its app gets tokens. */
async function authoriseApp(app: PopulatedApp) {
  const request = await requestAccess(app)
  const { body } = await app.call('POST', '/v1/mcp-authorisations', request, { key: app.owner })
  const { data } = (await app.call('GET', '/v1/mcp-authorisations', undefined, { key: app.owner })).body
  const exchange = {
    grant_type: 'authorization_code',
    code: new URL(body.redirect_to).searchParams.get('code') ?? '',
    client_id: request.client_id,
    redirect_uri: REDIRECT_URI,
    code_verifier: VERIFIER,
  }
  const { id } = data.find((one: { app: { id: string } }) => one.app.id === request.client_id)
  return { id: id as string, exchange }
}

const mcpCall = (name: string, given: object) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: given },
})

const asForm = (fields: Record<string, string>) => ({ raw: new URLSearchParams(fields).toString(), headers: FORM })

export const MCP: Record<string, AuditedCall> = {
  'POST /mcp': onProject('task.created', () => ({ body: mcpCall('run_task', { ...IDLE, wait_s: 0 }) })),
  'POST /v1/mcp-authorisations': onProject('mcp_app.authorised', async (app) => ({
    body: await requestAccess(app),
    key: app.owner,
  })),
  'DELETE /v1/mcp-authorisations/:id': onProject('mcp_app.revoked', async (app) => ({
    ids: { 'mcp-authorisations': (await authoriseApp(app)).id },
    key: app.owner,
  })),
  'POST /v1/mcp-oauth/token': onProject('mcp_app.connected', async (app) => {
    const { id, exchange } = await authoriseApp(app)
    return { ...asForm(exchange), key: null, about: id }
  }),
  'POST /v1/mcp-oauth/revoke': onProject('mcp_app.revoked', async (app) => {
    const { id, exchange } = await authoriseApp(app)
    const { raw } = asForm(exchange)
    const { body } = await app.call('POST', '/v1/mcp-oauth/token', undefined, { key: null, raw, headers: FORM })
    return { ...asForm({ token: body.refresh_token }), key: null, about: id }
  }),
}

/** Every MCP tool that changes something. */
export const AUDITED_TOOLS: Record<string, AuditedCall> = {
  run_task: onProject('task.created', () => ({ body: mcpCall('run_task', { ...IDLE, wait_s: 0 }) })),
  decide_approval: onProject('approval.approved', async (app) => ({
    body: mcpCall('decide_approval', {
      approval_id: (await app.taskAwaitingApproval()).approval,
      decision: 'approve',
    }),
  })),
}
