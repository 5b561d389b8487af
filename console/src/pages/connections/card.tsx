import { call } from '../../api/http.ts'
import { textOf } from '../../api/json.ts'
import type { Authorisation, Connection } from '../../api/setup.ts'
import { useWrite } from '../../api/write.ts'
import { Button } from '../../ui/button.tsx'
import { humanize } from '../../ui/json.tsx'
import { May } from '../../ui/may.tsx'
import { Tag } from '../../ui/status.tsx'
import { Ago } from '../../ui/time.tsx'
import { toast } from '../../ui/toast.tsx'
import { WriteButton } from '../../ui/write-button.tsx'
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
      <p className="truncate font-mono text-xs text-muted">{textOf(where) || 'no address yet'}</p>
      {client_id && <p className="text-xs text-muted">belongs to client {client_id.slice(-8)}</p>}
      <Health connection={connection} />
      <May least="admin">
        <Actions connection={connection} onSecret={onSecret} onChange={onChange} />
      </May>
    </li>
  )
}

function Health({ connection: { last_ok_at, last_error } }: { connection: Connection }) {
  if (last_error) return <p className="text-xs break-words text-bad">{last_error}</p>
  if (!last_ok_at) return <p className="text-xs text-muted">Not used yet</p>
  return (
    <p className="text-xs text-muted">
      Worked <Ago ts={last_ok_at} />
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
  const stale = ['connections']
  const test = useWrite(() => call<Trial>(`/v1/connections/${id}/test`, { method: 'POST' }), {
    stale,
    onDone: ({ ok, error, checked }) => toast(ok ? `${name} works: ${checked}` : `${name}: ${error}`, !ok),
  })
  const authorise = useWrite(
    () => call<Authorisation>(`/v1/connections/${id}/broker/connect`, { method: 'POST', body: {} }),
    { stale, onDone: openAuthorisation },
  )
  const remove = useWrite(() => call(`/v1/connections/${id}`, { method: 'DELETE' }), { stale })
  return (
    <div className="mt-auto flex flex-wrap gap-2">
      <WriteButton small write={test}>
        Test
      </WriteButton>
      {kind === 'broker' ? (
        <WriteButton small write={authorise}>
          Authorise
        </WriteButton>
      ) : (
        <Button small onClick={onSecret}>
          {has_secret ? 'Replace secret' : 'Set secret'}
        </Button>
      )}
      <Button small onClick={onChange}>
        Change
      </Button>
      <WriteButton
        small
        look="danger"
        className="ml-auto"
        write={remove}
        sure={`Delete the connection ${name} and its secret?`}
      >
        Delete
      </WriteButton>
    </div>
  )
}
