import type { OpenApiParameter } from '../../src/platform/http/openapi.ts'
import { seededId } from '../seed/expressions.ts'

/** Routes that are no lists and no reports, with the reason. */
export const UNMEASURED_ROUTES: Record<string, string> = {
  '/health': 'reads no rows of the project',
  '/livez': 'reads no rows of the project',
  '/readyz': 'reads no rows of the project',
  '/v1/auth/signup': 'reads no rows of the project',
  '/v1/auth/session': 'reads no rows of the project',
  '/v1/oauth/callback': 'changes a connection',
  '/v1/widgets/{channel_id}': 'sends a script',
  '/v1/decide': 'needs the link of a mail',
  '/v1/decide/files/{id}': 'sends a file',
  '/.well-known/oauth-protected-resource/mcp': 'reads no rows',
  '/.well-known/oauth-protected-resource': 'reads no rows',
  '/.well-known/oauth-authorization-server': 'reads no rows',
  '/authorize': 'sends a page',
  '/v1/portal/brand': 'needs the slug of a project with a brand',
  '/v1/portal/brand/logo': 'sends a file',
  '/v1/portal/brand/favicon': 'sends a file',
  '/v1/tasks/{id}/events': 'a stream',
  '/v1/portal/tasks/{id}/events': 'a stream',
  '/v1/stream': 'a stream',
  '/v1/files/{id}': 'sends a file',
  '/v1/portal/files/{id}': 'sends a file',
  '/v1/portal/artifacts/{id}': 'sends a file',
  '/v1/broker/toolkits': 'asks another service',
  '/v1/connections/{id}/broker/status': 'asks another service',
  '/v1/audit/verify': 'reads the whole chain; the part `surface` measures it',
  '/v1/audit/export': 'sends the whole chain',
  '/v1/projects/{id}': 'one row by its key',
  '/v1/keys/{id}': 'one row by its key',
  '/mcp': 'a stream',
  '/v1/mcp-oauth/consent': 'needs a registered app',
}

/** What stands in a path, by the path or by the parameter. The rows are those of `bench/seed`. */
export const PATH_VALUES: Record<string, string> = {
  '/v1/tasks/{id}': seededId('task', 5),
  '/v1/tasks/{id}/trace': seededId('task', 5),
  '/v1/tasks/{id}/actions': seededId('task', 5),
  '/v1/artifacts/{id}': seededId('art', 5),
  '/v1/files/{id}/meta': seededId('file', 20),
  '/v1/approvals/{id}': seededId('apr', 2000),
  '/v1/approvals/{id}/comments': seededId('apr', 200),
  '/v1/connections/{id}': seededId('conn', 50),
  '/v1/connections/{id}/tools': seededId('conn', 50),
  '/v1/connections/{id}/health': seededId('conn', 50),
  '/v1/channels/{id}': seededId('chan', 0),
  '/v1/clients/{id}': seededId('cli', 0),
  '/v1/threads/{id}': seededId('thr', 10),
  '/v1/portal/threads/{id}': seededId('thr', 10),
  '/v1/knowledge/{id}': seededId('kn', 0),
  '/v1/knowledge/{id}/revisions': seededId('kn', 0),
  '/v1/cases/{id}': seededId('case', 0),
  '/v1/cases/{id}/files': seededId('case', 0),
  '/v1/records/{id}': seededId('rec', 1),
  '/v1/webhooks/{id}': seededId('hook', 0),
  '/v1/webhooks/{id}/deliveries': seededId('hook', 0),
  '/v1/members/{id}': seededId('mem', 0),
  '/v1/schedules/{id}': seededId('sch', 0),
  '/v1/blueprints/{slug}/readiness': 'refund-desk',
  '{wedge}': 'bench',
}

/** The values of filters: one that rows have, then one that no row has. By the route and the name, or by the name. */
const FILTER_VALUES: Record<string, readonly string[]> = {
  wedge: ['workshop', 'no-such-wedge'],
  client_id: [seededId('cli', 0), seededId('cli', 999_999_999)],
  case_id: [seededId('case', 20), seededId('case', 999_999_999)],
  thread_id: [seededId('thr', 20), seededId('thr', 999_999_999)],
  channel_id: [seededId('chan', 0), seededId('chan', 999_999_999)],
  task_id: [seededId('task', 5), seededId('task', 999_999_999)],
  assignee: [seededId('mem', 0), seededId('mem', 999_999_999)],
  assignee_id: [seededId('mem', 0), seededId('mem', 999_999_999)],
  expired_since: ['2020-01-01T00:00:00Z', '2100-01-01T00:00:00Z'],
  handle: ['client0@example.com', 'nobody@example.com'],
  unanswered: ['true'],
  held: ['me'],
  held_by: ['me'],
  unread: ['true'],
  q: ['parcel', 'no such words'],
  stage: ['new', 'no-such-stage'],
  collection: ['invoices', 'no-such-collection'],
  key: ['k1', 'no-such-key'],
  where: ['{"state":"done"}', '{"state":"lost"}'],
  days: ['1', '30', '365'],
  action: ['task.created', 'approval.approved', 'no.such.action'],
  subject: [seededId('task', 5), seededId('task', 999_999_999)],
  from_seq: ['2000', '999999999'],
  to_seq: ['5000', '1'],
}

/** All values of a filter that has a list of them; otherwise the values above. */
export function filterValues(path: string, { name, schema }: OpenApiParameter): readonly string[] {
  const listed: unknown = 'enum' in schema ? schema['enum'] : undefined
  if (Array.isArray(listed)) return listed.map(String)
  const values = FILTER_VALUES[`${path} ${name}`] ?? FILTER_VALUES[name]
  if (!values) throw new Error(`bench/lists/values.ts has no values for the filter '${name}' of ${path}`)
  return values
}
