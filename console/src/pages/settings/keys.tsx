import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/http.ts'
import { type Key, keysQuery } from '../../api/setup.ts'
import { useWrite } from '../../api/write.ts'
import { Button } from '../../ui/button.tsx'
import { Choice, Text } from '../../ui/form.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { May, OthersDo, useMay } from '../../ui/may.tsx'
import { Once } from '../../ui/once.tsx'
import { Acts, Section, Table } from '../../ui/table.tsx'
import { Ago } from '../../ui/time.tsx'
import { WriteButton } from '../../ui/write-button.tsx'

/** Keys for programs, each to this project alone. */
export function Keys() {
  const query = useQuery(keysQuery)
  const may = useMay()
  const [making, setMaking] = useState(false)
  const [made, setMade] = useState<string | null>(null)
  return (
    <Section
      title="Keys of this project"
      actions={
        <May least="admin">
          <Button small look="primary" onClick={() => setMaking(true)}>
            New key
          </Button>
        </May>
      }
    >
      {!may('admin') && <OthersDo>admins make and revoke keys</OthersDo>}
      <Loaded query={query}>
        {(keys) => (
          <Table label="Keys" head={['Name', 'Role', 'Key', 'Last used']} acts={{ name: 'Revoke', least: 'admin' }}>
            {keys.map((key) => (
              <KeyRow key={key.id} held={key} />
            ))}
          </Table>
        )}
      </Loaded>
      {making && <KeyForm onMade={setMade} onClose={() => setMaking(false)} />}
      {made && (
        <Once
          title="Your new key"
          lead="Copy it now: only its hash is kept, and nobody can show it again."
          value={made}
          onClose={() => setMade(null)}
        />
      )}
    </Section>
  )
}

function KeyRow({ held: { id, name, role, hint, last_used_at } }: { held: Key }) {
  const revoke = useWrite(() => call(`/v1/keys/${id}`, { method: 'DELETE' }), { stale: ['keys'] })
  return (
    <tr>
      <td className="font-medium">{name}</td>
      <td>{role}</td>
      <td className="font-mono text-xs">{hint}</td>
      <td className="text-muted">{last_used_at ? <Ago ts={last_used_at} /> : 'never'}</td>
      <Acts least="admin">
        <WriteButton
          small
          look="danger"
          write={revoke}
          sure={`Revoke the key ${name}? Programs that use it stop at once.`}
        >
          Revoke<span className="sr-only"> {name}</span>
        </WriteButton>
      </Acts>
    </tr>
  )
}

function KeyForm({ onMade, onClose }: { onMade: (key: string) => void; onClose: () => void }) {
  const [name, setName] = useState('')
  const [role, setRole] = useState('operator')
  const make = useWrite(() => call<{ key: string }>('/v1/keys', { method: 'POST', body: { name, role } }), {
    stale: ['keys'],
    onDone: ({ key }) => {
      onClose()
      onMade(key)
    },
  })
  return (
    <FormDialog title="New key" submit="Make the key" ready={name.trim() !== ''} write={make} onClose={onClose}>
      <Text label="Name" hint="what uses it" value={name} onChange={setName} />
      <Choice
        label="Role"
        value={role}
        options={['admin', 'operator', 'viewer'].map((one) => [one, one])}
        onChange={setRole}
      />
    </FormDialog>
  )
}
