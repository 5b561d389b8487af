import { isJsonObject, type Json, type JsonObject } from '../../../platform/base/json.ts'
import { toModelToolName } from '../../../platform/contract/connection-tool-names.ts'
import { narrowedTools, type WedgeManifest } from '../../../platform/contract/wedge/wedge-manifest.ts'

/**
 * Operations for the fake connection of a rehearsal, so that its turns can call the tools of the connection by name. Null
 * if no turn does: then the connection takes every capability.
 */
export function rehearsedOperations(
  manifest: WedgeManifest,
  connection: string,
  rehearsals: Json[],
): JsonObject[] | null {
  const calls = rehearsals.flatMap((turns) => (Array.isArray(turns) ? turns : [])).flatMap(callOf)
  const prefix = toModelToolName(connection, '')
  const only = narrowedTools(manifest).get(connection) ?? []
  const byName = calls
    .filter(({ tool }) => tool.startsWith(prefix))
    .map(({ tool }) => only.find((name) => toModelToolName(connection, name) === tool) ?? tool.slice(prefix.length))
  if (byName.length === 0) return null
  const byCapability = calls.flatMap(({ capability }) =>
    capability.startsWith(`${connection}:`) ? [capability.slice(connection.length + 1)] : [],
  )
  return [...new Set([...byName, ...byCapability])].map((name) => ({ name, method: 'POST', path: '/' }))
}

function callOf(turn: Json): { tool: string; capability: string }[] {
  const call = isJsonObject(turn) ? turn.call : undefined
  if (!isJsonObject(call) || typeof call.tool !== 'string') return []
  const capability = isJsonObject(call.input) ? call.input.capability : undefined
  return [{ tool: call.tool, capability: typeof capability === 'string' ? capability : '' }]
}
