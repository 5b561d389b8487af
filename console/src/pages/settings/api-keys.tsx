import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { callApi } from '../../api/http.ts'
import { type ApiKey, keysQuery } from '../../api/setup-queries.ts'
import { useApiMutation } from '../../api/mutation.ts'
import { Button } from '../../ui/button.tsx'
import { Select, TextField } from '../../ui/form-fields.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { QueryResult } from '../../ui/query-result.tsx'
import { RequireRole, RoleHint, useHasRole } from '../../ui/role.tsx'
import { ShowOnce } from '../../ui/show-once.tsx'
import { RowActions, Table } from '../../ui/table.tsx'
import { TimeAgo } from '../../ui/time.tsx'
import { Section } from '../../ui/page.tsx'
import { MutationButton } from '../../ui/mutation-button.tsx'

/** Keys for programs, each to this project alone. */
export function ApiKeys() {
  const query = useQuery(keysQuery)
  const may = useHasRole()
  const [making, setMaking] = useState(false)
  const [made, setMade] = useState<string | null>(null)
  return (
    <Section
      title="Keys of this project"
      actions={
        <RequireRole minRole="admin">
          <Button small variant="primary" onClick={() => setMaking(true)}>
            New key
          </Button>
        </RequireRole>
      }
    >
      {!may('admin') && <RoleHint>admins make and revoke keys</RoleHint>}
      <QueryResult query={query}>
        {(keys) => (
          <Table
            label="Keys"
            columns={['Name', 'Role', 'Key', 'Last used']}
            actions={{ name: 'Revoke', minRole: 'admin' }}
          >
            {keys.map((key) => (
              <ApiKeyRow key={key.id} held={key} />
            ))}
          </Table>
        )}
      </QueryResult>
      {making && <ApiKeyForm onMade={setMade} onClose={() => setMaking(false)} />}
      {made && (
        <ShowOnce
          title="Your new key"
          lead="Copy it now: only its hash is kept, and nobody can show it again."
          value={made}
          onClose={() => setMade(null)}
        />
      )}
    </Section>
  )
}

function ApiKeyRow({ held: { id, name, role, hint, last_used_at } }: { held: ApiKey }) {
  const revoke = useApiMutation(() => callApi(`/v1/keys/${id}`, { method: 'DELETE' }), { invalidates: ['keys'] })
  return (
    <tr>
      <td className="font-medium">{name}</td>
      <td>{role}</td>
      <td className="font-mono text-xs">{hint}</td>
      <td className="text-muted">{last_used_at ? <TimeAgo ts={last_used_at} /> : 'never'}</td>
      <RowActions minRole="admin">
        <MutationButton
          small
          variant="danger"
          mutation={revoke}
          confirmText={`Revoke the key ${name}? Programs that use it stop at once.`}
        >
          Revoke<span className="sr-only"> {name}</span>
        </MutationButton>
      </RowActions>
    </tr>
  )
}

function ApiKeyForm({ onMade, onClose }: { onMade: (key: string) => void; onClose: () => void }) {
  const [name, setName] = useState('')
  const [role, setRole] = useState('operator')
  const make = useApiMutation(() => callApi<{ key: string }>('/v1/keys', { method: 'POST', body: { name, role } }), {
    invalidates: ['keys'],
    onSuccess: ({ key }) => {
      onClose()
      onMade(key)
    },
  })
  return (
    <FormDialog
      title="New key"
      submitLabel="Make the key"
      canSubmit={name.trim() !== ''}
      mutation={make}
      onClose={onClose}
    >
      <TextField label="Name" hint="what uses it" value={name} onChange={setName} />
      <Select
        label="Role"
        value={role}
        options={['admin', 'operator', 'viewer'].map((one) => [one, one])}
        onChange={setRole}
      />
    </FormDialog>
  )
}
