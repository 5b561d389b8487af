import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type ConnectionTool, type ToolClass, toolsQuery } from '../../api/connection-queries.ts'
import { callOperation } from '../../api/http.ts'
import { useApiMutation } from '../../api/mutation.ts'
import type { Connection } from '../../api/setup-queries.ts'
import { JsonView } from '../../ui/json.tsx'
import { MutationButton } from '../../ui/mutation-button.tsx'
import { QueryResult } from '../../ui/query-result.tsx'
import { RequireRole } from '../../ui/role.tsx'
import { Tag } from '../../ui/status.tsx'
import { RowActions, Table } from '../../ui/table.tsx'
import { connectionsText } from './text.ts'

const text = connectionsText.tools

/** The tools of a connection. Those of an MCP server get their class from an admin; operations have it in the config. */
export function ToolTable({ connection }: { connection: Connection }) {
  const query = useQuery(toolsQuery(connection.id))
  const isManaged = connection.kind === 'mcp'
  return (
    <QueryResult query={query} height="h-24">
      {(tools) =>
        tools.length === 0 ? (
          <p className="text-muted">{isManaged ? text.noneListed : text.none}</p>
        ) : (
          <Table
            label={text.title}
            columns={isManaged ? [text.tool, text.class, text.state] : [text.tool, text.class]}
            {...(isManaged && { actions: { name: text.actions, minRole: 'admin' as const } })}
          >
            {tools.map((tool) =>
              isManaged ? (
                <ManagedToolRow key={`${tool.name} ${tool.hash}`} connectionId={connection.id} tool={tool} />
              ) : (
                <tr key={tool.name}>
                  <ToolCell tool={tool} />
                  <td>{text.classes[tool.class]}</td>
                </tr>
              ),
            )}
          </Table>
        )
      }
    </QueryResult>
  )
}

/** A confirmed tool changes its class at once; a new or changed one when it is confirmed. */
function ManagedToolRow({ connectionId, tool }: { connectionId: string; tool: ConnectionTool }) {
  const isConfirmed = tool.state === 'confirmed'
  const [chosen, setChosen] = useState<ToolClass>(tool.proposed_class ?? 'ask')
  const shown = isConfirmed ? tool.class : chosen
  const update = useApiMutation(
    (to: ToolClass) =>
      callOperation('updateConnectionTool', {
        id: connectionId,
        name: tool.name,
        body: { class: to, ...(tool.hash !== null && { hash: tool.hash }) },
      }),
    { invalidates: ['connections'] },
  )
  const choose = (to: ToolClass) => (isConfirmed ? update.mutate(to) : setChosen(to))
  const confirm = { isPending: update.isPending, mutate: () => update.mutate(chosen) }
  return (
    <tr>
      <ToolCell tool={tool} />
      <td>
        <RequireRole minRole="admin" fallback={text.classes[tool.class]}>
          <select
            aria-label={text.classOf(tool.name)}
            className="field h-8 min-w-20"
            disabled={update.isPending}
            value={shown}
            onChange={(event) => choose(CLASSES.find((one) => one === event.target.value) ?? shown)}
          >
            {CLASSES.map((one) => (
              <option key={one} value={one}>
                {text.classes[one]}
              </option>
            ))}
          </select>
        </RequireRole>
      </td>
      <td>
        <Tag tone={isConfirmed ? 'off' : 'wait'}>{text.states[tool.state]}</Tag>
      </td>
      <RowActions minRole="admin">
        {!isConfirmed && (
          <MutationButton small variant="primary" mutation={confirm}>
            {text.confirm}
            <span className="sr-only"> {tool.name}</span>
          </MutationButton>
        )}
      </RowActions>
    </tr>
  )
}

const CLASSES: ToolClass[] = ['read', 'ask', 'off']

function ToolCell({ tool: { name, description, input_schema } }: { tool: ConnectionTool }) {
  return (
    <td>
      <details>
        <summary>
          <span className="font-mono font-medium break-all">{name}</span>
          <span className="line-clamp-2 text-muted">{description}</span>
        </summary>
        <div className="flex flex-col gap-2 py-2">
          <p className="break-words whitespace-pre-wrap">{description}</p>
          <JsonView value={input_schema} label={text.inputOf(name)} max="max-h-64" />
        </div>
      </details>
    </td>
  )
}
