import { hash } from 'node:crypto'
import type { BriefConnection, BriefTool } from './agent-protocol.ts'

/** The longest name that model providers accept. */
const MAX_NAME_LENGTH = 64
const HASH_LENGTH = 8

/** A tool of a connection under the name by which a model calls it. */
export interface NamedTool extends Omit<BriefTool, 'name'> {
  toolName: string
  connection: string
}

/**
 * The tools of the connections as `<connection>__<tool>`. The names are unique and depend on the names of connections
 * and tools only, so that they are the same in every run.
 */
export function nameConnectionTools(connections: readonly BriefConnection[]): NamedTool[] {
  const taken = new Set<string>()
  return connections
    .flatMap(({ name: connection, tools = [] }) => tools.map((tool) => ({ connection, tool })))
    .toSorted((a, b) => compareText(a.tool.capability, b.tool.capability))
    .map(({ connection, tool: { name, ...found } }) => {
      const description = found.class === 'ask' ? found.description + WAITS : found.description
      const tool = { ...found, description, input_schema: { ...found.input_schema, type: 'object' } }
      const plain = toModelToolName(connection, name)
      const toolName = taken.has(plain) ? withHash(plain, tool.capability) : plain
      taken.add(toolName)
      return { ...tool, toolName, connection }
    })
}

/** The general tools `act` and `read` are offered only if a connection has no tools by name. */
export const needsGeneralTools = ({ connections }: { connections: readonly BriefConnection[] }): boolean =>
  connections.length === 0 || connections.some(({ tools }) => tools === undefined)

const WAITS =
  ' It may wait until a person has approved the input, perhaps with changes: go on from the payload in the result.'

/** The name for the model, unless another tool has the same one. */
export function toModelToolName(connection: string, tool: string): string {
  const name = `${connection}__${tool}`.replaceAll(/[^a-zA-Z0-9_-]/g, '_')
  return name.length <= MAX_NAME_LENGTH ? name : withHash(name, `${connection}:${tool}`)
}

const withHash = (name: string, capability: string): string =>
  `${name.slice(0, MAX_NAME_LENGTH - HASH_LENGTH - 1)}_${hash('sha256', capability).slice(0, HASH_LENGTH)}`

/** By code units: the same order in every locale. */
const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
