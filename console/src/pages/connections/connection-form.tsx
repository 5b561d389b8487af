import { useState } from 'react'
import { callOperation } from '../../api/http.ts'
import { toText } from '../../api/json.ts'
import { useApiMutation } from '../../api/mutation.ts'
import type { Connection, ConnectionKind } from '../../api/setup-queries.ts'
import type { JsonObject } from '../../api/types.ts'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { TextArea, TextField } from '../../ui/form-fields.tsx'
import { showToast } from '../../ui/toast.tsx'
import { connectionsText } from './text.ts'

/** Changes the name and the config of a connection. */
export function ConnectionForm({ connection, onClose }: { connection: Connection; onClose: () => void }) {
  const { id, kind } = connection
  const [name, setName] = useState(connection.name)
  const [config, setConfig] = useState<JsonObject>(connection.config)
  const [otherConfig, setOtherConfig] = useState(() => otherConfigOf(connection.config, kind))
  const save = useApiMutation(
    async () =>
      callOperation('updateConnection', { id, body: { name, config: mergeConfig(config, otherConfig, kind) } }),
    {
      invalidates: ['connections'],
      onSuccess: (saved) => {
        showToast(connectionsText.saved(saved.name))
        for (const warning of saved.warnings) showToast(connectionsText.warning(warning))
        onClose()
      },
    },
  )
  return (
    <FormDialog
      title={connectionsText.editConnection(connection.name)}
      submitLabel={connectionsText.save}
      canSubmit={name.trim() !== ''}
      mutation={save}
      onClose={onClose}
    >
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
      <TextArea label={connectionsText.otherConfig} rows={6} mono value={otherConfig} onChange={setOtherConfig} />
    </FormDialog>
  )
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
