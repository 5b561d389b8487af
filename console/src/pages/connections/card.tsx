import { callApi } from '../../api/http.ts'
import { toText } from '../../api/json.ts'
import type { BrokerAuthorisation, Connection } from '../../api/setup-queries.ts'
import { useApiMutation } from '../../api/mutation.ts'
import { Button } from '../../ui/button.tsx'
import { humanize } from '../../ui/humanize.ts'
import { RequireRole } from '../../ui/role.tsx'
import { Tag } from '../../ui/status.tsx'
import { TimeAgo } from '../../ui/time.tsx'
import { showToast } from '../../ui/toast.tsx'
import { MutationButton } from '../../ui/mutation-button.tsx'
import { openAuthorisation } from './broker.tsx'

interface Trial {
  ok: boolean
  checked: string
  status: number | null
  error: string | null
}

export function ConnectionCard({
  connection,
  onSecret,
  onChange,
}: {
  connection: Connection
  onSecret: () => void
  onChange: () => void
}) {
  const { name, kind, config, status, client_id } = connection
  const ready = status === 'connected'
  const where = [config['api_url'], config['base_url'], config['url'], config['toolkit']].find(Boolean)
  return (
    <li className="panel flex flex-col gap-3 p-4">
      <div className="flex items-center gap-2">
        <h2 className="truncate font-semibold">{name}</h2>
        <Tag>{kind}</Tag>
        <span className="ml-auto">
          <Tag tone={ready ? 'ok' : 'wait'}>{humanize(status)}</Tag>
        </span>
      </div>
      <p className="truncate font-mono text-xs text-muted">{toText(where) || 'no address yet'}</p>
      {client_id && <p className="text-xs text-muted">belongs to client {client_id.slice(-8)}</p>}
      <Health connection={connection} />
      <RequireRole minRole="admin">
        <Actions connection={connection} onSecret={onSecret} onChange={onChange} />
      </RequireRole>
    </li>
  )
}

function Health({ connection: { last_ok_at, last_error } }: { connection: Connection }) {
  if (last_error) return <p className="text-xs break-words text-bad">{last_error}</p>
  if (!last_ok_at) return <p className="text-xs text-muted">Not used yet</p>
  return (
    <p className="text-xs text-muted">
      Worked <TimeAgo ts={last_ok_at} />
    </p>
  )
}

function Actions({
  connection: { id, kind, name, has_secret },
  onSecret,
  onChange,
}: {
  connection: Connection
  onSecret: () => void
  onChange: () => void
}) {
  const invalidates = ['connections']
  const test = useApiMutation(() => callApi<Trial>(`/v1/connections/${id}/test`, { method: 'POST' }), {
    invalidates,
    onSuccess: ({ ok, error, checked }) => showToast(ok ? `${name} works: ${checked}` : `${name}: ${error}`, !ok),
  })
  const authorise = useApiMutation(
    () => callApi<BrokerAuthorisation>(`/v1/connections/${id}/broker/connect`, { method: 'POST', body: {} }),
    { invalidates, onSuccess: openAuthorisation },
  )
  const remove = useApiMutation(() => callApi(`/v1/connections/${id}`, { method: 'DELETE' }), { invalidates })
  return (
    <div className="mt-auto flex flex-wrap gap-2">
      <MutationButton small mutation={test}>
        Test
      </MutationButton>
      {kind === 'broker' ? (
        <MutationButton small mutation={authorise}>
          Authorise
        </MutationButton>
      ) : (
        <Button small onClick={onSecret}>
          {has_secret ? 'Replace secret' : 'Set secret'}
        </Button>
      )}
      <Button small onClick={onChange}>
        Change
      </Button>
      <MutationButton
        small
        variant="danger"
        className="ml-auto"
        mutation={remove}
        confirmText={`Delete the connection ${name} and its secret?`}
      >
        Delete
      </MutationButton>
    </div>
  )
}
