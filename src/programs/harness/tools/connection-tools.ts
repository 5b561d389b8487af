import type { Brief } from '../../../platform/contract/agent-protocol.ts'
import { type NamedTool, nameConnectionTools } from '../../../platform/contract/connection-tool-names.ts'
import { postAction, postRead } from './plane-tools.ts'
import type { ConnectionHarnessTool } from './tool.ts'

/** The tools of the granted connections, each with its own name and schema. */
export const connectionToolsOf = ({ connections }: Pick<Brief, 'connections'>): ConnectionHarnessTool[] =>
  nameConnectionTools(connections).map(toConnectionTool)

function toConnectionTool(named: NamedTool): ConnectionHarnessTool {
  const { toolName, connection, capability, description, input_schema } = named
  return {
    name: toolName,
    description,
    schema: input_schema,
    target: named,
    run: (run, input) =>
      named.class === 'read'
        ? postRead(run, capability, { connection, arguments: input })
        : postAction(run, capability, { connection, payload: input }),
  }
}
