import {
  type AuditedCall,
  onProject,
  createConnection,
  createMcpConnection,
  OAUTH,
  createBrokerConnection,
} from './audited-call.ts'
import { MAIL } from './populated-app.ts'

/** The calls that change connections. */
export const CONNECTIONS: Record<string, AuditedCall> = {
  'POST /v1/connections': onProject('connection.created', (app) => ({
    body: { ...MAIL, name: app.uniqueWord() },
  })),
  'PUT /v1/connections/:id': onProject('connection.updated', async (app) => ({
    ids: { connections: await createConnection(app) },
    body: { name: app.uniqueWord() },
  })),
  'DELETE /v1/connections/:id': onProject('connection.deleted', async (app) => ({
    ids: { connections: await createConnection(app) },
  })),
  'POST /v1/connections/:id/secret': onProject('secret.written', async (app) => ({
    ids: { connections: await createConnection(app) },
    body: { value: 'open sesame' },
  })),
  'POST /v1/connections/:id/test': onProject('connection.tested', async (app) => ({
    ids: { connections: await createConnection(app, { config: { api_url: app.outside.url } }) },
  })),
  'POST /v1/connections/:id/oauth/start': onProject('connection.authorising', async (app) => ({
    ids: { connections: await createConnection(app, OAUTH) },
    body: {},
  })),
  'POST /v1/connections/:id/tools/refresh': onProject('connection.tools_changed', async (app) => ({
    ids: { connections: await createMcpConnection(app) },
  })),
  'PUT /v1/connections/:id/tools/:name': onProject('connection.tool_confirmed', async (app) => {
    const id = await createMcpConnection(app)
    await app.call('POST', `/v1/connections/${id}/tools/refresh`)
    return { ids: { connections: id, name: 'echo' }, body: { class: 'ask' } }
  }),
  'POST /v1/broker/toolkits/:toolkit/connect': onProject('connection.authorising', () => ({
    ids: { toolkit: 'gmail' },
    body: {},
  })),
  'POST /v1/connections/:id/broker/connect': onProject('connection.authorising', async (app) => ({
    ids: { connections: await createBrokerConnection(app) },
    body: {},
  })),
  // Reading the status stores the account that the broker reports as ACTIVE.
  'GET /v1/connections/:id/broker/status': onProject('connection.connected', async (app) => {
    const id = await createBrokerConnection(app)
    await app.call('POST', `/v1/connections/${id}/broker/connect`, {})
    for (const account of app.broker.accounts.keys()) app.broker.authorise(account)
    return { ids: { connections: id }, by: 'system' }
  }),
}
