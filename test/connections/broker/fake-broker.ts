import { openUpstreamServer } from '../test-context.ts'
import { type ReceivedRequest, respondJson } from '../../fake-upstream.ts'

/** A fake broker server with the parts of the API v3.1 that the service uses. */
export async function openFakeBroker() {
  const state = {
    accounts: new Map<string, { status: string; user_id?: string }>(),
    authConfigs: [] as { id: string; toolkit: { slug: string }; status: string }[],
    tool: (_request: ReceivedRequest): { status: number; body: unknown } => ({
      status: 200,
      body: { data: { sent: true }, successful: true, error: null },
    }),
  }
  const server = await openUpstreamServer((request, response) => {
    const url = new URL(request.url, 'http://provider')
    if (request.headers['x-api-key'] !== 'broker-k3y')
      return respondJson(response, 401, { error: { message: 'bad key' } })
    const { status, body } = brokerResponse(state, request, url)
    return respondJson(response, status, body)
  })
  return {
    ...server,
    ...state,
    state,
    authorise: (id: string) => state.accounts.set(id, { ...state.accounts.get(id), status: 'ACTIVE' }),
  }
}

type BrokerState = Awaited<ReturnType<typeof openFakeBroker>>['state']

function brokerResponse(state: BrokerState, request: ReceivedRequest, url: URL): { status: number; body: unknown } {
  const path = `${request.method} ${url.pathname.replace('/api/v3.1/', '')}`
  const body = request.body ? JSON.parse(request.body) : {}
  if (path === 'GET toolkits') return { status: 200, body: toolkits(url.searchParams.get('search') ?? '') }
  if (path === 'GET auth_configs') {
    const items = state.authConfigs.filter((config) => config.toolkit.slug === url.searchParams.get('toolkit_slug'))
    return { status: 200, body: { items } }
  }
  if (path === 'POST auth_configs') {
    const created = { id: `ac_${state.authConfigs.length + 1}`, toolkit: body.toolkit, status: 'ENABLED' }
    state.authConfigs.push(created)
    return { status: 201, body: { toolkit: body.toolkit, auth_config: { id: created.id } } }
  }
  if (path === 'POST connected_accounts/link') {
    const id = `ca_${state.accounts.size + 1}`
    state.accounts.set(id, { status: 'INITIATED', user_id: body.user_id })
    return {
      status: 201,
      body: {
        connected_account_id: id,
        redirect_url: `https://auth.test/${id}`,
        expires_at: '2026-01-02T01:00:00.000Z',
      },
    }
  }
  const [, account] = /^GET connected_accounts\/(.+)$/.exec(path) ?? []
  const found = account && state.accounts.get(decodeURIComponent(account))
  if (found) return { status: 200, body: { id: account, ...found } }
  if (path.startsWith('POST tools/execute/')) return state.tool(request)
  return { status: 404, body: { error: { message: 'not found' } } }
}

function toolkits(search: string) {
  const all = [
    { slug: 'gmail', name: 'Gmail', meta: { description: 'Mail' } },
    { slug: 'slack', name: 'Slack' },
  ]
  return { items: all.filter((toolkit) => toolkit.slug.includes(search)), next_cursor: null }
}
