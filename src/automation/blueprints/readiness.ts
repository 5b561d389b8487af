import type { JsonObject } from '../../platform/base/json.ts'
import { createBroker } from '../../connections/broker/rest-client.ts'
import { needsAuthorisation } from '../../connections/auth/auth-config.ts'
import { listAuthorisedConnections } from '../../connections/auth/token-store.ts'
import { connectedAccountId } from '../../connections/broker/broker-account.ts'
import { findExecutor, needsNoCredential } from '../../connections/executors/executor-table.ts'
import { type Connection, listEntitledConnections } from '../../connections/connection/rows.ts'
import { problemText } from '../../platform/contract/wedge/wedge-manifest.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import { listConnectionsWithSecret } from '../../identity/vault/secrets.ts'
import { isWedgeEnabled } from '../../wedges/library/enabled-wedges.ts'
import { findProjectAllowance, parseWedgeList } from '../../wedges/library/rows.ts'
import type { Blueprint } from './blueprint.ts'
import { checkModel } from './model-readiness.ts'
import { findInstall, listSchedulesByName } from './rows.ts'
import type { ReadinessItem, ReadinessView } from './view.ts'

type ReadinessFix = NonNullable<ReadinessItem['fix']>

/**
 * The setup checklist of a blueprint. Each open item names the request that fixes it, if one exists. After all these
 * requests, in order, the blueprint is ready, unless it needs a model and none is set.
 */
export async function checkReadiness(ctx: Ctx, projectId: string, blueprint: Blueprint): Promise<ReadinessView> {
  const model = await checkModel(ctx, projectId, blueprint)
  const items = [
    await wedgeItem(ctx, projectId, blueprint),
    await provisionItem(ctx, projectId, blueprint),
    ...(await connectionItems(ctx, projectId, blueprint)),
    ...(await scheduleItems(ctx, projectId, blueprint)),
    ...model.items,
  ]
  return { ready: items.every(({ ok }) => ok), items, warnings: model.warnings }
}

export const openReadinessItems = ({ items }: ReadinessView) => items.filter(({ ok }) => !ok)

async function wedgeItem(ctx: Ctx, projectId: string, { wedge }: Blueprint): Promise<ReadinessItem> {
  if (!(await ctx.wedges.find(wedge))) {
    const problem = ctx.wedges.problems().find((one) => one.wedge === wedge)
    // No request can add a folder.
    return openItem(
      'wedge',
      wedge,
      problem ? problemText(problem) : `there is no wedge '${wedge}' in the wedges folder`,
      null,
    )
  }
  const enabled = parseWedgeList((await findProjectAllowance(ctx.db, projectId)).wedges)
  if (isWedgeEnabled(enabled, wedge)) return doneItem('wedge', wedge, 'the wedge is enabled')
  const fix: ReadinessFix = { method: 'PUT', path: `/v1/projects/${projectId}/wedges/${wedge}`, body: {} }
  return openItem('wedge', wedge, 'the wedge is not enabled for the project', fix)
}

async function provisionItem(ctx: Ctx, projectId: string, { blueprint }: Blueprint): Promise<ReadinessItem> {
  const install = await findInstall(ctx.db, projectId, blueprint)
  if (install) return doneItem('provision', blueprint, 'the blueprint is set up')
  return openItem('provision', blueprint, 'the blueprint is not set up', provisionCall(blueprint))
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
  const authorised = await listAuthorisedConnections(ctx, found)
  return required.flatMap(({ name, kind }) => {
    const connection = found.find((one) => one.name === name)
    if (!connection) {
      return openItem('connection', name, `there is no connection '${name}'`, provisionCall(blueprint.blueprint))
    }
    if (connection.kind !== kind) return wrongKindItem(connection, kind)
    const exists = doneItem('connection', name, `connection '${name}' is registered`)
    const credential = needsAuthorisation(connection)
      ? [oauthItem(connection, authorised.has(connection.id))]
      : credentialItems(ctx, connection, secrets.has(connection.id))
    return [exists, ...configItems(connection), ...credential]
  })
}

/** A connection of another kind may be in use, so the fix is to rename it, not to delete it. */
function wrongKindItem(connection: Connection, kind: string): ReadinessItem {
  const detail = `connection '${connection.name}' is of kind '${connection.kind}', not '${kind}'`
  return openItem('connection', connection.name, detail, changeConnectionCall(connection, { name: '<another name>' }))
}

/** One of the listed keys is enough: a custom connection sends to `api_url` and reads from `base_url`. */
function configItems(connection: Connection): ReadinessItem[] {
  const { name, kind, config } = connection
  const executor = findExecutor(kind)
  const keys = executor?.requiredConfig ?? []
  const missing = executor?.findMissingConfig?.(config) ?? (keys.some((key) => config[key]) ? [] : keys.slice(0, 1))
  if (missing.length === 0) return [doneItem('config', name, `connection '${name}' is configured`)]
  const list = missing.map((key) => `config.${key}`).join(' and ')
  const detail = `${list} of connection '${name}' ${missing.length === 1 ? 'is' : 'are'} missing`
  const placeholders = Object.fromEntries(missing.map((key) => [key, `<${key}>`]))
  const fix = changeConnectionCall(connection, { config: { ...config, ...placeholders } })
  return [openItem('config', name, detail, fix)]
}

/** Webhooks can be unsigned and MCP servers open, so they need a secret only if they refer to one. */
function credentialItems(ctx: Ctx, connection: Connection, hasSecret: boolean): ReadinessItem[] {
  const { name, kind, secret_ref } = connection
  if (kind === 'broker') return [authorisationItem(connection, createBroker(ctx) !== null)]
  if (hasSecret) return [doneItem('secret', name, `connection '${name}' has its secret`)]
  if (needsNoCredential(connection)) return []
  if (secret_ref?.startsWith('env:')) {
    const detail = `connection '${name}' reads its secret from ${secret_ref}, which is not set`
    return [openItem('secret', name, detail, changeConnectionCall(connection, { secret_ref: null }))]
  }
  const fix = connectionCall(connection, 'secret', { value: '<secret>' })
  return [openItem('secret', name, `connection '${name}' has no secret`, fix)]
}

function oauthItem(connection: Connection, isAuthorised: boolean): ReadinessItem {
  const { name } = connection
  if (isAuthorised) return doneItem('authorisation', name, `connection '${name}' is authorised`)
  const detail = `connection '${name}' is not authorised: the response has the page to open`
  return openItem('authorisation', name, detail, connectionCall(connection, 'oauth/start', {}))
}

function authorisationItem(connection: Connection, hasBroker: boolean): ReadinessItem {
  const { id, name } = connection
  if (connectedAccountId(connection)) return doneItem('authorisation', name, `connection '${name}' is authorised`)
  // No request can set the environment variable, and broker requests return 501 without it.
  if (!hasBroker) {
    return openItem('authorisation', name, `connection '${name}' cannot be authorised: set BROKER_API_KEY`, null)
  }
  if (!connection.pending_account) {
    const detail = `connection '${name}' is not authorised: the response has the page to open`
    return openItem('authorisation', name, detail, connectionCall(connection, 'broker/connect', {}))
  }
  const detail = `the authorisation of connection '${name}' is not finished: complete it at the provider, then check; to start again, authorise the connection once more`
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
    if (!schedule) {
      return openItem('schedule', name, `there is no schedule '${name}'`, provisionCall(blueprint.blueprint))
    }
    if (!types || Object.hasOwn(types, schedule.task_type)) {
      return doneItem('schedule', name, `schedule '${name}' exists`)
    }
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
