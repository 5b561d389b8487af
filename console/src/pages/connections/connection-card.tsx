import { callApi } from '../../api/http.ts'
import { toText } from '../../api/json.ts'
import { useApiMutation } from '../../api/mutation.ts'
import type { BrokerAuthorisation, Connection } from '../../api/setup-queries.ts'
import { Button } from '../../ui/button.tsx'
import { MutationButton } from '../../ui/mutation-button.tsx'
import { RequireRole } from '../../ui/role.tsx'
import { Tag } from '../../ui/status.tsx'
import { TimeAgo } from '../../ui/time.tsx'
import { showToast } from '../../ui/toast.tsx'
import { openAuthorisation } from './connect-app.tsx'
import { connectionsText } from './text.ts'

interface TestResult {
  ok: boolean
  checked: string
  status: number | null
  error: string | null
}

export function ConnectionCard({
  connection,
  onSecret,
  onEdit,
}: {
  connection: Connection
  onSecret: () => void
  onEdit: () => void
}) {
  const { name, kind, config, status, client_id } = connection
  const url = [config['api_url'], config['base_url'], config['url'], config['toolkit']].find(Boolean)
  return (
    <li className="panel flex flex-col gap-3 p-4">
      <div className="flex items-center gap-2">
        <h2 className="truncate font-semibold">{name}</h2>
        <Tag>{connectionsText.kinds[kind]}</Tag>
        <span className="ml-auto">
          <Tag tone={status === 'connected' ? 'ok' : 'wait'}>{connectionsText.status[status]}</Tag>
        </span>
      </div>
      <p className="truncate font-mono text-xs text-muted">{toText(url) || connectionsText.noUrl}</p>
      {client_id && <p className="text-xs text-muted">{connectionsText.clientOwned(client_id)}</p>}
      <ConnectionHealth connection={connection} />
      <RequireRole minRole="admin">
        <ConnectionActions connection={connection} onSecret={onSecret} onEdit={onEdit} />
      </RequireRole>
    </li>
  )
}

function ConnectionHealth({ connection: { last_ok_at, last_error } }: { connection: Connection }) {
  if (last_error) return <p className="text-xs break-words text-bad">{last_error}</p>
  if (!last_ok_at) return <p className="text-xs text-muted">{connectionsText.notUsed}</p>
  return (
    <p className="text-xs text-muted">
      {connectionsText.lastSuccess} <TimeAgo ts={last_ok_at} />
    </p>
  )
}

function ConnectionActions({
  connection: { id, kind, name, has_secret },
  onSecret,
  onEdit,
}: {
  connection: Connection
  onSecret: () => void
  onEdit: () => void
}) {
  const invalidates = ['connections']
  const test = useApiMutation(() => callApi<TestResult>(`/v1/connections/${id}/test`, { method: 'POST' }), {
    invalidates,
    onSuccess: ({ ok, error, checked }) =>
      showToast(ok ? connectionsText.testPassed(name, checked) : connectionsText.testFailed(name, error), !ok),
  })
  const authorise = useApiMutation(
    () => callApi<BrokerAuthorisation>(`/v1/connections/${id}/broker/connect`, { method: 'POST', body: {} }),
    { invalidates, onSuccess: openAuthorisation },
  )
  const remove = useApiMutation(() => callApi(`/v1/connections/${id}`, { method: 'DELETE' }), { invalidates })
  return (
    <div className="mt-auto flex flex-wrap gap-2">
      <MutationButton small mutation={test}>
        {connectionsText.test}
      </MutationButton>
      {kind === 'broker' ? (
        <MutationButton small mutation={authorise}>
          {connectionsText.authorise}
        </MutationButton>
      ) : (
        <Button small onClick={onSecret}>
          {has_secret ? connectionsText.replaceSecret : connectionsText.setSecret}
        </Button>
      )}
      <Button small onClick={onEdit}>
        {connectionsText.edit}
      </Button>
      <MutationButton
        small
        variant="danger"
        className="ml-auto"
        mutation={remove}
        confirmText={connectionsText.confirmDelete(name)}
      >
        {connectionsText.delete}
      </MutationButton>
    </div>
  )
}
