import { useState } from 'react'
import { callApi } from '../../api/http.ts'
import { toText } from '../../api/json.ts'
import { CONNECTION_KINDS, type Connection, type ConnectionKind } from '../../api/setup-queries.ts'
import type { JsonObject } from '../../api/types.ts'
import { useApiMutation } from '../../api/mutation.ts'
import { TextArea, Select, TextField } from '../../ui/form-fields.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { showToast } from '../../ui/toast.tsx'

/** The fields that people fill in by name; everything else of the config is JSON. */
const FIELDS: Record<ConnectionKind, { name: string; label: string; hint: string }[]> = {
  email: [
    { name: 'api_url', label: 'Address of the mail API', hint: 'where messages are posted to' },
    { name: 'from', label: 'From', hint: 'such as Accounts <accounts@example.com>' },
  ],
  webhook: [{ name: 'url', label: 'Address', hint: 'every action is posted to it, signed when there is a secret' }],
  custom: [
    { name: 'api_url', label: 'Address to act by', hint: 'actions are posted to it' },
    { name: 'base_url', label: 'Address to read by', hint: 'reads go below it' },
  ],
  broker: [{ name: 'toolkit', label: 'Toolkit', hint: 'the broker’s name for the app' }],
}

export function ConnectionForm({
  connection,
  onMade,
  onClose,
}: {
  connection?: Connection
  onMade: (connection: Connection) => void
  onClose: () => void
}) {
  const [kind, setKind] = useState<ConnectionKind>(connection?.kind ?? 'email')
  const [name, setName] = useState(connection?.name ?? '')
  const [config, setConfig] = useState<JsonObject>(connection?.config ?? {})
  const named = FIELDS[kind]
  const [rest, setRest] = useState(() => restOf(connection?.config ?? {}, kind))
  const save = useApiMutation(() => send(connection, { kind, name, config: merged(config, rest, kind) }), {
    invalidates: ['connections'],
    onSuccess: (made) => {
      showToast(made.warnings[0] ?? `${made.name} is saved`, made.warnings.length > 0)
      onMade(made)
    },
  })
  return (
    <FormDialog
      title={connection ? `Change ${connection.name}` : 'New connection'}
      submitLabel="Save"
      canSubmit={name.trim() !== ''}
      mutation={save}
      onClose={onClose}
    >
      {!connection && (
        <Select
          label="Kind"
          value={kind}
          options={CONNECTION_KINDS.map((one) => [one, one])}
          onChange={(to) => setKind(CONNECTION_KINDS.find((one) => one === to) ?? kind)}
        />
      )}
      <TextField label="Name" hint="as the wedge calls it" value={name} onChange={setName} required />
      {named.map((field) => (
        <TextField
          key={field.name}
          label={field.label}
          hint={field.hint}
          value={toText(config[field.name])}
          onChange={(to) => setConfig({ ...config, [field.name]: to })}
        />
      ))}
      <TextArea label="More config as JSON" rows={2} mono value={rest} onChange={setRest} />
    </FormDialog>
  )
}

type Made = Connection & { warnings: string[] }

async function send(connection: Connection | undefined, body: { kind: string; name: string; config: JsonObject }) {
  if (!connection) return callApi<Made>('/v1/connections', { method: 'POST', body })
  const { name, config } = body
  return callApi<Made>(`/v1/connections/${connection.id}`, { method: 'PUT', body: { name, config } })
}

const isNamed = (kind: ConnectionKind, key: string) => FIELDS[kind].some(({ name }) => name === key)

function restOf(config: JsonObject, kind: ConnectionKind): string {
  const rest = Object.entries(config).filter(([key]) => !isNamed(kind, key))
  return rest.length === 0 ? '' : JSON.stringify(Object.fromEntries(rest), null, 2)
}

function merged(config: JsonObject, rest: string, kind: ConnectionKind): JsonObject {
  const given = Object.entries(config).filter(([key, value]) => isNamed(kind, key) && value !== '')
  let more: unknown
  try {
    more = rest.trim() === '' ? {} : JSON.parse(rest)
  } catch {
    throw new Error('the further config is not JSON')
  }
  if (typeof more !== 'object' || more === null || Array.isArray(more)) throw new Error('config must be an object')
  return { ...more, ...Object.fromEntries(given) }
}
