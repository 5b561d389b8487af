import { z } from 'zod'
import type { JsonObject } from '../base/json.ts'
import { connectedAccount } from '../connections/accounts.ts'
import { brokerOf } from '../connections/broker-rest.ts'
import { type Connection, entitledConnections } from '../connections/rows.ts'
import { withSecret } from '../connections/secrets.ts'
import type { Ctx } from '../ctx/ctx.ts'
import { jsonObject } from '../http/judge.ts'
import { isEnabled } from '../wedges/enabled.ts'
import { allowanceOf, slugs } from '../wedges/rows.ts'
import type { Blueprint } from './blueprint.ts'
import { findInstall, schedulesNamed } from './rows.ts'
import { warningsOf } from './warnings.ts'

const ReadinessItem = z.object({
  item: z.string(),
  kind: z.enum(['wedge', 'provision', 'connection', 'config', 'secret', 'authorisation', 'schedule']),
  ok: z.boolean(),
  detail: z.string(),
  fix: z
    .object({ method: z.enum(['GET', 'POST', 'PUT']), path: z.string(), body: jsonObject.nullable() })
    .nullable()
    .meta({
      description:
        'the call that closes the item, null where no call can; what only you know stands in <angle brackets>',
    }),
})
export const Readiness = z.object({
  ready: z.boolean(),
  items: z.array(ReadinessItem),
  warnings: z.array(z.string()).meta({ description: 'what no call can mend and will keep its tasks from being done' }),
})
export type Readiness = z.infer<typeof Readiness>
type Item = z.infer<typeof ReadinessItem>
type Fix = NonNullable<Item['fix']>

/**
 * What is there and what is not, each open item with the call that closes it, if one can: made one after another, all is
 * ready.
 */
export async function readinessOf(ctx: Ctx, projectId: string, blueprint: Blueprint): Promise<Readiness> {
  const items = [
    await wedgeItem(ctx, projectId, blueprint),
    await provisionItem(ctx, projectId, blueprint),
    ...(await connectionItems(ctx, projectId, blueprint)),
    ...(await scheduleItems(ctx, projectId, blueprint)),
  ]
  return { ready: items.every(({ ok }) => ok), items, warnings: await warningsOf(ctx, projectId, blueprint) }
}

export const openItems = ({ items }: Readiness) => items.filter(({ ok }) => !ok)

async function wedgeItem(ctx: Ctx, projectId: string, { wedge }: Blueprint): Promise<Item> {
  if (!(await ctx.wedges.find(wedge))) {
    const problem = ctx.wedges.problems().find((one) => one.wedge === wedge)?.problem
    // No call can place a folder.
    return open('wedge', wedge, problem ?? `there is no wedge '${wedge}' in the wedges folder`, null)
  }
  const enabled = slugs((await allowanceOf(ctx.db, projectId)).wedges)
  if (isEnabled(enabled, wedge)) return done('wedge', wedge, 'the wedge is enabled')
  const fix: Fix = { method: 'PUT', path: `/v1/projects/${projectId}/wedges/${wedge}`, body: {} }
  return open('wedge', wedge, 'the wedge is not enabled for the project', fix)
}

async function provisionItem(ctx: Ctx, projectId: string, { blueprint }: Blueprint): Promise<Item> {
  const install = await findInstall(ctx.db, projectId, blueprint)
  if (install) return done('provision', blueprint, 'the blueprint is provisioned')
  return open('provision', blueprint, 'the blueprint is not provisioned', provisionCall(blueprint))
}

const provisionCall = (blueprint: string): Fix => ({
  method: 'POST',
  path: `/v1/blueprints/${blueprint}/provision`,
  body: {},
})

async function connectionItems(ctx: Ctx, projectId: string, blueprint: Blueprint): Promise<Item[]> {
  const required = blueprint.requires_connections
  const names = required.map(({ name }) => name)
  const found = await entitledConnections(ctx.db, { projectId, clientId: null, names })
  const secrets = await withSecret(ctx, found)
  return required.flatMap(({ name, kind }) => {
    const connection = found.find((one) => one.name === name)
    if (!connection) {
      return open('connection', name, `there is no connection '${name}'`, provisionCall(blueprint.blueprint))
    }
    if (connection.kind !== kind) return wrongKind(connection, kind)
    const exists = done('connection', name, `connection '${name}' is registered`)
    return [exists, ...configItems(connection), ...credentialItems(ctx, connection, secrets.has(connection.id))]
  })
}

/** It is somebody's, so it is not ours to delete: under another name it is out of the way. */
function wrongKind(connection: Connection, kind: string): Item {
  const detail = `connection '${connection.name}' is of kind '${connection.kind}', not '${kind}'`
  return open('connection', connection.name, detail, change(connection, { name: '<another name>' }))
}

const NEEDED: Record<string, string[]> = {
  email: ['api_url'],
  custom: ['api_url', 'base_url'],
  webhook: ['url'],
  broker: ['toolkit'],
}

/** Of several, one is enough: a custom connection acts by one address and reads by the other. */
function configItems(connection: Connection): Item[] {
  const { name, kind, config } = connection
  const keys = NEEDED[kind] ?? []
  const [first] = keys
  if (first === undefined) return []
  if (keys.some((key) => config[key])) return [done('config', name, `connection '${name}' is configured`)]
  const detail = `config.${first} of connection '${name}' is missing`
  return [open('config', name, detail, change(connection, { config: { ...config, [first]: `<${first}>` } }))]
}

/** A webhook works unsigned, so it needs no secret unless it names one. */
function credentialItems(ctx: Ctx, connection: Connection, hasSecret: boolean): Item[] {
  const { name, kind, secret_ref } = connection
  if (kind === 'broker') return [authorisationItem(connection, brokerOf(ctx) !== null)]
  if (hasSecret) return [done('secret', name, `connection '${name}' has its secret`)]
  if (kind === 'webhook' && secret_ref === null) return []
  if (secret_ref?.startsWith('env:')) {
    const detail = `connection '${name}' reads its secret from ${secret_ref}, which is not set`
    return [open('secret', name, detail, change(connection, { secret_ref: null }))]
  }
  return [open('secret', name, `connection '${name}' has no secret`, call(connection, 'secret', { value: '<secret>' }))]
}

function authorisationItem(connection: Connection, hasBroker: boolean): Item {
  const { id, name } = connection
  if (connectedAccount(connection)) return done('authorisation', name, `connection '${name}' is authorised`)
  // No call can set the environment, and those of the broker are 501 without it.
  if (!hasBroker) {
    return open('authorisation', name, `connection '${name}' cannot be authorised: set BROKER_API_KEY`, null)
  }
  if (!connection.pending_account) {
    const detail = `connection '${name}' is not authorised: the call answers with the page to open`
    return open('authorisation', name, detail, call(connection, 'broker/connect', {}))
  }
  const again = `to begin anew: POST /v1/connections/${id}/broker/connect`
  const detail = `the authorisation of connection '${name}' has begun: finish it with the provider, then ask; ${again}`
  return open('authorisation', name, detail, { method: 'GET', path: `/v1/connections/${id}/broker/status`, body: null })
}

async function scheduleItems(ctx: Ctx, projectId: string, blueprint: Blueprint): Promise<Item[]> {
  const { wedge, schedules } = blueprint
  const names = schedules.map(({ name }) => name)
  const found = await schedulesNamed(ctx.db, projectId, wedge, names)
  const types = ctx.wedges.get(wedge)?.manifest.task_types
  return names.map((name) => {
    const schedule = found.get(name)
    if (!schedule) return open('schedule', name, `there is no schedule '${name}'`, provisionCall(blueprint.blueprint))
    if (!types || Object.hasOwn(types, schedule.task_type)) return done('schedule', name, `schedule '${name}' is there`)
    const fix: Fix = { method: 'PUT', path: `/v1/schedules/${schedule.id}`, body: { task_type: '<task_type>' } }
    return open('schedule', name, `the wedge has no task type '${schedule.task_type}'`, fix)
  })
}

const change = (connection: Connection, body: JsonObject): Fix => ({
  method: 'PUT',
  path: `/v1/connections/${connection.id}`,
  body,
})
const call = (connection: Connection, what: string, body: JsonObject): Fix => ({
  method: 'POST',
  path: `/v1/connections/${connection.id}/${what}`,
  body,
})
const done = (kind: Item['kind'], item: string, detail: string): Item => ({ item, kind, ok: true, detail, fix: null })
const open = (kind: Item['kind'], item: string, detail: string, fix: Fix | null): Item => ({
  item,
  kind,
  ok: false,
  detail,
  fix,
})
