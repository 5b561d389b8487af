import { useQuery } from '@tanstack/react-query'
import { callOperation } from '../../api/http.ts'
import { type ConnectedApp, connectedAppsQuery, keysQuery } from '../../api/setup-queries.ts'
import { useApiMutation } from '../../api/mutation.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import { EmptyState } from '../../ui/page-states.tsx'
import { QueryResult } from '../../ui/query-result.tsx'
import { RowActions, Table } from '../../ui/table.tsx'
import { TimeAgo } from '../../ui/time.tsx'
import { Section } from '../../ui/page.tsx'
import { MutationButton } from '../../ui/mutation-button.tsx'
import { uiText } from '../../ui/text.ts'
import { settingsText } from './text.ts'

const text = settingsText.apps

/** Apps with access to the MCP endpoint. Members see their own, admins those of all members. */
export function ConnectedApps() {
  const query = useQuery(connectedAppsQuery)
  // The list of keys is above and would push this section down when it is loaded.
  const { isPending: areKeysLoading } = useQuery(keysQuery)
  if (areKeysLoading) return null
  return (
    <Section title={text.title}>
      <QueryResult query={query}>{(apps) => (apps.length === 0 ? <NoApps /> : <AppTable apps={apps} />)}</QueryResult>
    </Section>
  )
}

function NoApps() {
  const url = `${location.origin}/mcp`
  return (
    <EmptyState title={text.none}>
      <p>{text.noneHint}</p>
      <p className="mt-2 flex items-center justify-center gap-2">
        <code className="font-mono text-xs break-all">{url}</code>
        <CopyButton text={() => url} />
      </p>
    </EmptyState>
  )
}

function AppTable({ apps }: { apps: ConnectedApp[] }) {
  return (
    <Table
      label={text.label}
      columns={[text.app, settingsText.role, text.member, text.lastUsed]}
      actions={{ name: settingsText.actions, minRole: 'viewer' }}
    >
      {apps.map((app) => (
        <AppRow key={app.id} connected={app} />
      ))}
    </Table>
  )
}

function AppRow({ connected: { id, app, role, member, last_used_at } }: { connected: ConnectedApp }) {
  const revoke = useApiMutation(() => callOperation('deleteMcpAuthorisation', { id }), {
    invalidates: ['connected-apps'],
  })
  return (
    <tr>
      <td className="font-medium">{app.name}</td>
      <td>{uiText.role[role]}</td>
      <td>{member.name}</td>
      <td className="text-muted">{last_used_at ? <TimeAgo ts={last_used_at} /> : text.never}</td>
      <RowActions minRole="viewer">
        <MutationButton small variant="danger" mutation={revoke} confirmText={text.confirmRevoke(app.name)}>
          {text.revoke}
          <span className="sr-only"> {app.name}</span>
        </MutationButton>
      </RowActions>
    </tr>
  )
}
