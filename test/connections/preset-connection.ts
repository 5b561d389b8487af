import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { isJsonObject, type Json, type JsonObject } from '../../src/platform/base/json.ts'
import { parseOperations } from '../../src/connections/operations/connection-operations.ts'
import { applyPreset } from '../../src/connections/presets/apply-preset.ts'
import { Preset } from '../../src/connections/presets/preset.ts'
import { readThroughConnection } from '../../src/connections/actions/read-through.ts'
import { sendAction } from '../../src/connections/actions/send-action.ts'
import { writeSecret } from '../../src/connections/setup/write-secret.ts'
import type { FakeUpstream } from '../fake-upstream.ts'
import { ACTIVE_RUN, insertTestConnection, openTestContext } from './test-context.ts'

export const PRESET_SECRET = 'secret-of-the-preset'

export const loadPreset = (name: string): Preset =>
  Preset.parse(JSON.parse(readFileSync(fileURLToPath(new URL(`../../presets/${name}.json`, import.meta.url)), 'utf8')))

/** The config of a preset with the examples of its parameters. */
export function examplePresetConfig(preset: Preset): JsonObject {
  const params = Object.fromEntries(preset.params.map(({ name, example }) => [name, example]))
  return applyPreset(preset, { params, config: {} })
}

export interface PresetConnection {
  operations: ReturnType<typeof parseOperations>['operations']
  /** Calls one operation, on the route that its class needs. */
  call(operation: string, args: JsonObject): Promise<{ ok: boolean; status: number | null }>
}

/** A connection of a preset that calls the recorder instead of the vendor. */
export async function openPresetConnection(preset: Preset, server: FakeUpstream): Promise<PresetConnection> {
  const { ctx, scope } = await openTestContext()
  const config = examplePresetConfig(preset)
  const { baseUrl, operations } = parseOperations(config)
  const base_url = `${server.url}${new URL(baseUrl).pathname.replace(/^\/$/, '')}`
  // The recorder has no token endpoint; what is compared is the same for every bearer token.
  const auth = isJsonObject(config.auth) && config.auth.type === 'oauth2' ? { type: 'bearer' } : (config.auth ?? null)
  const local = operations.map((operation) => ({ ...operation, ...(operation.base_url && { base_url: server.url }) }))
  const connection = await insertTestConnection(ctx, {
    name: 'one',
    config: JSON.parse(JSON.stringify({ ...config, base_url, auth, operations: local })),
  })
  await writeSecret(ctx, scope, connection, PRESET_SECRET)
  return {
    operations,
    async call(operation, args) {
      const capability = `one:${operation}`
      const isRead = operations.find(({ name }) => name === operation)?.read === true
      if (isRead) return readThroughConnection(ctx, connection, { capability, path: null, arguments: args })
      return sendAction(ctx, connection, { capability, payload: args, idempotencyKey: 'apr_1', runSignal: ACTIVE_RUN })
    },
  }
}

/** A value that matches a schema of the presets, with every property. */
export function exampleOf(schema: JsonObject): Json {
  const { type, enum: choices, properties, items, minimum } = schema
  if (Array.isArray(choices)) return choices[0] ?? null
  if (type === 'integer' || type === 'number') return typeof minimum === 'number' ? minimum : 7
  if (type === 'boolean') return true
  if (type === 'array') return [isJsonObject(items) ? exampleOf(items) : 'x']
  if (type !== 'object') return 'Text & more'
  if (!isJsonObject(properties)) return { key: 'value' }
  return exampleArguments(schema)
}

export function exampleArguments({ properties }: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(isJsonObject(properties) ? properties : {}).map(([name, inner]) => [
      name,
      isJsonObject(inner) ? exampleOf(inner) : null,
    ]),
  )
}
