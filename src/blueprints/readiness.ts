import { z } from 'zod'
import type { JsonObject } from '../base/json.ts'
import { connectedAccountId } from '../connections/broker-account.ts'
import { createBroker } from '../broker/rest-client.ts'
import { findExecutor } from '../connections/executors/executor-table.ts'
import { type Connection, listEntitledConnections } from '../connections/rows.ts'
import { listConnectionsWithSecret } from '../vault/secrets.ts'
import type { Ctx } from '../ctx/ctx.ts'
import { jsonObject } from '../http/validate.ts'
import { isWedgeEnabled } from '../wedges/enabled-wedges.ts'
import { findProjectAllowance, parseWedgeList } from '../wedges/rows.ts'
import type { Blueprint } from './blueprint.ts'
import { findInstall, listSchedulesByName } from './rows.ts'
import { modelWarnings } from './model-warnings.ts'

const ReadinessItemView = z
  .object({
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
  .meta({ id: 'ReadinessItem' })
export const ReadinessView = z
  .object({
    ready: z.boolean(),
    items: z.array(ReadinessItemView),
    warnings: z
      .array(z.string())
      .meta({ description: 'what no call can mend and will keep its tasks from being done' }),
  })
  .meta({ id: 'Readiness' })
export type ReadinessView = z.infer<typeof ReadinessView>
type ReadinessItem = z.infer<typeof ReadinessItemView>
type ReadinessFix = NonNullable<ReadinessItem['fix']>

/**
 * What is there and what is not, each open item with the call that closes it, if one can: made one after another, all is
 * ready.
 */
export async function checkReadiness(ctx: Ctx, projectId: string, blueprint: Blueprint): Promise<ReadinessView> {
  const items = [
    await wedgeItem(ctx, projectId, blueprint),
    await provisionItem(ctx, projectId, blueprint),
    ...(await connectionItems(ctx, projectId, blueprint)),
    ...(await scheduleItems(ctx, projectId, blueprint)),
  ]
  return { ready: items.every(({ ok }) => ok), items, warnings: await modelWarnings(ctx, projectId, blueprint) }
}

export const openReadinessItems = ({ items }: ReadinessView) => items.filter(({ ok }) => !ok)

async function wedgeItem(ctx: Ctx, projectId: string, { wedge }: Blueprint): Promise<ReadinessItem> {
  if (!(await ctx.wedges.find(wedge))) {
    const problem = ctx.wedges.problems().find((one) => one.wedge === wedge)?.problem
    // No call can place a folder.
    return openItem('wedge', wedge, problem ?? `there is no wedge '${wedge}' in the wedges folder`, null)
  }
  const enabled = parseWedgeList((await findProjectAllowance(ctx.db, projectId)).wedges)
  if (isWedgeEnabled(enabled, wedge)) return doneItem('wedge', wedge, 'the wedge is enabled')
  const fix: ReadinessFix = { method: 'PUT', path: `/v1/projects/${projectId}/wedges/${wedge}`, body: {} }
  return openItem('wedge', wedge, 'the wedge is not enabled for the project', fix)
}

async function provisionItem(ctx: Ctx, projectId: string, { blueprint }: Blueprint): Promise<ReadinessItem> {
  const install = await findInstall(ctx.db, projectId, blueprint)
  if (install) return doneItem('provision', blueprint, 'the blueprint is provisioned')
  return openItem('provision', blueprint, 'the blueprint is not provisioned', provisionCall(blueprint))
}

const provisionCall = (blueprint: string): ReadinessFix => ({
  method: 'POST',
  path: `/v1/blueprints/${blueprint}/provision`,
  body: {},
})

async function connectionItems(ctx: Ctx, projectId: string, blueprint: Blueprint): Promise<ReadinessItem[]> {
  const required = blueprint.requires_connections
  const names = required.map(({ name }) => name)
  const found = await listEntitledConnections(ctx.db, { projectId, clientId: null, names })
  const secrets = await listConnectionsWithSecret(ctx, found)
  return required.flatMap(({ name, kind }) => {
    const connection = found.find((one) => one.name === name)
    if (!connection) {
      return openItem('connection', name, `there is no connection '${name}'`, provisionCall(blueprint.blueprint))
    }
    if (connection.kind !== kind) return wrongKindItem(connection, kind)
    const exists = doneItem('connection', name, `connection '${name}' is registered`)
    return [exists, ...configItems(connection), ...credentialItems(ctx, connection, secrets.has(connection.id))]
  })
}

/** It is somebody's, so it is not ours to delete: under another name it is out of the way. */
function wrongKindItem(connection: Connection, kind: string): ReadinessItem {
  const detail = `connection '${connection.name}' is of kind '${connection.kind}', not '${kind}'`
  return openItem('connection', connection.name, detail, changeConnectionCall(connection, { name: '<another name>' }))
}

/** Of several, one is enough: a custom connection acts by one address and reads by the other. */
function configItems(connection: Connection): ReadinessItem[] {
  const { name, kind, config } = connection
  const keys = findExecutor(kind)?.requiredConfig ?? []
  const [first] = keys
  if (first === undefined) return []
  if (keys.some((key) => config[key])) return [doneItem('config', name, `connection '${name}' is configured`)]
  const detail = `config.${first} of connection '${name}' is missing`
  return [
    openItem(
      'config',
      name,
      detail,
      changeConnectionCall(connection, { config: { ...config, [first]: `<${first}>` } }),
    ),
  ]
}

/** A webhook works unsigned, so it needs no secret unless it names one. */
function credentialItems(ctx: Ctx, connection: Connection, hasSecret: boolean): ReadinessItem[] {
  const { name, kind, secret_ref } = connection
  if (kind === 'broker') return [authorisationItem(connection, createBroker(ctx) !== null)]
  if (hasSecret) return [doneItem('secret', name, `connection '${name}' has its secret`)]
  if (kind === 'webhook' && secret_ref === null) return []
  if (secret_ref?.startsWith('env:')) {
    const detail = `connection '${name}' reads its secret from ${secret_ref}, which is not set`
    return [openItem('secret', name, detail, changeConnectionCall(connection, { secret_ref: null }))]
  }
  return [
    openItem(
      'secret',
      name,
      `connection '${name}' has no secret`,
      connectionCall(connection, 'secret', { value: '<secret>' }),
    ),
  ]
}

function authorisationItem(connection: Connection, hasBroker: boolean): ReadinessItem {
  const { id, name } = connection
  if (connectedAccountId(connection)) return doneItem('authorisation', name, `connection '${name}' is authorised`)
  // No call can set the environment, and those of the broker are 501 without it.
  if (!hasBroker) {
    return openItem('authorisation', name, `connection '${name}' cannot be authorised: set BROKER_API_KEY`, null)
  }
  if (!connection.pending_account) {
    const detail = `connection '${name}' is not authorised: the call answers with the page to open`
    return openItem('authorisation', name, detail, connectionCall(connection, 'broker/connect', {}))
  }
  const again = `to begin anew: POST /v1/connections/${id}/broker/connect`
  const detail = `the authorisation of connection '${name}' has begun: finish it with the provider, then ask; ${again}`
  return openItem('authorisation', name, detail, {
    method: 'GET',
    path: `/v1/connections/${id}/broker/status`,
    body: null,
  })
}

async function scheduleItems(ctx: Ctx, projectId: string, blueprint: Blueprint): Promise<ReadinessItem[]> {
  const { wedge, schedules } = blueprint
  const names = schedules.map(({ name }) => name)
  const found = await listSchedulesByName(ctx.db, projectId, wedge, names)
  const types = ctx.wedges.get(wedge)?.manifest.task_types
  return names.map((name) => {
    const schedule = found.get(name)
    if (!schedule)
      return openItem('schedule', name, `there is no schedule '${name}'`, provisionCall(blueprint.blueprint))
    if (!types || Object.hasOwn(types, schedule.task_type))
      return doneItem('schedule', name, `schedule '${name}' is there`)
    const fix: ReadinessFix = {
      method: 'PUT',
      path: `/v1/schedules/${schedule.id}`,
      body: { task_type: '<task_type>' },
    }
    return openItem('schedule', name, `the wedge has no task type '${schedule.task_type}'`, fix)
  })
}

const changeConnectionCall = (connection: Connection, body: JsonObject): ReadinessFix => ({
  method: 'PUT',
  path: `/v1/connections/${connection.id}`,
  body,
})
const connectionCall = (connection: Connection, what: string, body: JsonObject): ReadinessFix => ({
  method: 'POST',
  path: `/v1/connections/${connection.id}/${what}`,
  body,
})
const doneItem = (kind: ReadinessItem['kind'], item: string, detail: string): ReadinessItem => ({
  item,
  kind,
  ok: true,
  detail,
  fix: null,
})
const openItem = (
  kind: ReadinessItem['kind'],
  item: string,
  detail: string,
  fix: ReadinessFix | null,
): ReadinessItem => ({
  item,
  kind,
  ok: false,
  detail,
  fix,
})
