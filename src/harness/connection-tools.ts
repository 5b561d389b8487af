import type { Brief } from '../contract/agent-protocol.ts'
import { type NamedTool, nameConnectionTools } from '../contract/connection-tool-names.ts'
import { postAction, postRead } from './plane-tools.ts'
import type { ConnectionHarnessTool } from './tool.ts'

/** The tools of the granted connections, each with its own name and schema. */
export const connectionToolsOf = ({ connections }: Pick<Brief, 'connections'>): ConnectionHarnessTool[] =>
  nameConnectionTools(connections).map(toConnectionTool)

/** The general tools `act` and `read` are offered only if a connection has no tools by name. */
export const needsGeneralTools = ({ connections }: Pick<Brief, 'connections'>): boolean =>
  connections.length === 0 || connections.some(({ tools }) => tools === undefined)

function toConnectionTool(named: NamedTool): ConnectionHarnessTool {
  const { toolName, connection, capability, description, input_schema } = named
  const waits =
    ' It may wait until a person has approved the input, perhaps with changes: go on from the payload in the result.'
  return {
    name: toolName,
    description: named.class === 'ask' ? description + waits : description,
    schema: { ...input_schema, type: 'object' },
    target: named,
    run: (run, input) =>
      named.class === 'read'
        ? postRead(run, capability, { connection, arguments: input })
        : postAction(run, capability, { connection, payload: input }),
  }
}
