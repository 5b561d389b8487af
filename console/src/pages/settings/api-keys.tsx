import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { callOperation } from '../../api/http.ts'
import { type ApiKey, keysQuery } from '../../api/setup-queries.ts'
import type { Role } from '../../api/types.ts'
import { useApiMutation } from '../../api/mutation.ts'
import { Button } from '../../ui/button.tsx'
import { Select, TextField } from '../../ui/form-fields.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { EmptyState } from '../../ui/page-states.tsx'
import { QueryResult } from '../../ui/query-result.tsx'
import { RequireRole, RoleHint, useHasRole } from '../../ui/role.tsx'
import { ShowOnce } from '../../ui/show-once.tsx'
import { RowActions, Table } from '../../ui/table.tsx'
import { TimeAgo } from '../../ui/time.tsx'
import { Section } from '../../ui/page.tsx'
import { MutationButton } from '../../ui/mutation-button.tsx'
import { uiText } from '../../ui/text.ts'
import { settingsText } from './text.ts'

const text = settingsText.keys

/** API keys for programs; each key belongs to this project only. */
export function ApiKeys() {
  const query = useQuery(keysQuery)
  const hasRole = useHasRole()
  const [formOpen, setFormOpen] = useState(false)
  const [createdKey, setCreatedKey] = useState<string | null>(null)
  return (
    <Section
      title={text.title}
      actions={
        <RequireRole minRole="admin">
          <Button small variant="primary" onClick={() => setFormOpen(true)}>
            {text.new}
          </Button>
        </RequireRole>
      }
    >
      {!hasRole('admin') && <RoleHint>{text.roleHint}</RoleHint>}
      <QueryResult query={query}>
        {(keys) =>
          keys.length === 0 ? <EmptyState title={text.none}>{text.noneHint}</EmptyState> : <ApiKeyTable keys={keys} />
        }
      </QueryResult>
      {formOpen && <ApiKeyForm onCreated={setCreatedKey} onClose={() => setFormOpen(false)} />}
      {createdKey && (
        <ShowOnce title={text.created} lead={text.copyNow} value={createdKey} onClose={() => setCreatedKey(null)} />
      )}
    </Section>
  )
}

function ApiKeyTable({ keys }: { keys: ApiKey[] }) {
  return (
    <Table
      label={text.label}
      columns={[settingsText.name, settingsText.role, text.key, text.lastUsed]}
      actions={{ name: settingsText.actions, minRole: 'admin' }}
    >
      {keys.map((key) => (
        <ApiKeyRow key={key.id} apiKey={key} />
      ))}
    </Table>
  )
}

function ApiKeyRow({ apiKey: { id, name, role, hint, last_used_at } }: { apiKey: ApiKey }) {
  const revoke = useApiMutation(() => callOperation('deleteKey', { id }), { invalidates: ['keys'] })
  return (
    <tr>
      <td className="font-medium">{name}</td>
      <td>{uiText.role[role]}</td>
      <td className="font-mono text-xs">{hint}</td>
      <td className="text-muted">{last_used_at ? <TimeAgo ts={last_used_at} /> : text.never}</td>
      <RowActions minRole="admin">
        <MutationButton small variant="danger" mutation={revoke} confirmText={text.confirmRevoke(name)}>
          {text.revoke}
          <span className="sr-only"> {name}</span>
        </MutationButton>
      </RowActions>
    </tr>
  )
}

function ApiKeyForm({ onCreated, onClose }: { onCreated: (key: string) => void; onClose: () => void }) {
  const [name, setName] = useState('')
  const [role, setRole] = useState<Exclude<Role, 'owner'>>('operator')
  const create = useApiMutation(() => callOperation('createKey', { body: { name, role } }), {
    invalidates: ['keys'],
    onSuccess: ({ key }) => {
      onClose()
      onCreated(key)
    },
  })
  return (
    <FormDialog
      title={text.new}
      submitLabel={text.create}
      canSubmit={name.trim() !== ''}
      mutation={create}
      onClose={onClose}
    >
      <TextField label={settingsText.name} hint={text.nameHint} value={name} onChange={setName} />
      <Select
        label={settingsText.role}
        value={role}
        options={(['admin', 'operator', 'viewer'] as const).map((role) => [role, uiText.role[role]])}
        onChange={setRole}
      />
    </FormDialog>
  )
}
