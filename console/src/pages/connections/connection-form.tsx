import { useState } from 'react'
import { callApi } from '../../api/http.ts'
import { toText } from '../../api/json.ts'
import { useApiMutation } from '../../api/mutation.ts'
import { type Connection, CONNECTION_KINDS, type ConnectionKind } from '../../api/setup-queries.ts'
import type { JsonObject } from '../../api/types.ts'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { Select, TextArea, TextField } from '../../ui/form-fields.tsx'
import { showToast } from '../../ui/toast.tsx'
import { connectionsText } from './text.ts'

export function ConnectionForm({
  connection,
  onSaved,
  onClose,
}: {
  connection?: Connection
  onSaved: (connection: Connection) => void
  onClose: () => void
}) {
  const [kind, setKind] = useState<ConnectionKind>(connection?.kind ?? 'email')
  const [name, setName] = useState(connection?.name ?? '')
  const [config, setConfig] = useState<JsonObject>(connection?.config ?? {})
  const [otherConfig, setOtherConfig] = useState(() => otherConfigOf(connection?.config ?? {}, kind))
  const save = useApiMutation(
    () => saveConnection(connection, { kind, name, config: mergeConfig(config, otherConfig, kind) }),
    {
      invalidates: ['connections'],
      onSuccess: (saved) => {
        showToast(connectionsText.saved(saved.name))
        for (const warning of saved.warnings) showToast(connectionsText.warning(warning))
        onSaved(saved)
      },
    },
  )
  return (
    <FormDialog
      title={connection ? connectionsText.editConnection(connection.name) : connectionsText.newConnection}
      submitLabel={connection ? connectionsText.save : connectionsText.create}
      canSubmit={name.trim() !== ''}
      mutation={save}
      onClose={onClose}
    >
      {!connection && (
        <Select
          label={connectionsText.kind}
          value={kind}
          options={CONNECTION_KINDS.map((option) => [option, connectionsText.kinds[option]])}
          onChange={(to) => setKind(CONNECTION_KINDS.find((option) => option === to) ?? kind)}
        />
      )}
      <TextField
        label={connectionsText.name}
        hint={connectionsText.nameHint}
        value={name}
        onChange={setName}
        required
      />
      {connectionsText.configFields[kind].map((field) => (
        <TextField
          key={field.name}
          label={field.label}
          hint={field.hint}
          value={toText(config[field.name])}
          onChange={(to) => setConfig({ ...config, [field.name]: to })}
        />
      ))}
      <TextArea label={connectionsText.otherConfig} rows={2} mono value={otherConfig} onChange={setOtherConfig} />
    </FormDialog>
  )
}

type SavedConnection = Connection & { warnings: string[] }

async function saveConnection(
  connection: Connection | undefined,
  body: { kind: string; name: string; config: JsonObject },
) {
  if (!connection) return callApi<SavedConnection>('/v1/connections', { method: 'POST', body })
  const { name, config } = body
  return callApi<SavedConnection>(`/v1/connections/${connection.id}`, { method: 'PUT', body: { name, config } })
}

const hasInput = (kind: ConnectionKind, key: string) =>
  connectionsText.configFields[kind].some(({ name }) => name === key)

function otherConfigOf(config: JsonObject, kind: ConnectionKind): string {
  const others = Object.entries(config).filter(([key]) => !hasInput(kind, key))
  return others.length === 0 ? '' : JSON.stringify(Object.fromEntries(others), null, 2)
}

function mergeConfig(config: JsonObject, otherConfig: string, kind: ConnectionKind): JsonObject {
  const filledIn = Object.entries(config).filter(([key, value]) => hasInput(kind, key) && value !== '')
  let others: unknown
  try {
    others = otherConfig.trim() === '' ? {} : JSON.parse(otherConfig)
  } catch {
    throw new Error(connectionsText.otherConfigNotJson)
  }
  if (typeof others !== 'object' || others === null || Array.isArray(others)) {
    throw new Error(connectionsText.otherConfigNotObject)
  }
  return { ...others, ...Object.fromEntries(filledIn) }
}
