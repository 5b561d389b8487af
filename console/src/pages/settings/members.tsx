import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/http.ts'
import { type Member, membersQuery } from '../../api/setup.ts'
import { ROLES } from '../../api/types.ts'
import { useWrite } from '../../api/write.ts'
import { Button } from '../../ui/button.tsx'
import { Choice, Text } from '../../ui/form.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { May, OthersDo, useMay } from '../../ui/may.tsx'
import { Once } from '../../ui/once.tsx'
import { Acts, Section, Table } from '../../ui/table.tsx'
import { WriteButton } from '../../ui/write-button.tsx'
import { OwnPassword } from './own-password.tsx'

/** People of the organisation. A key is no person and sees none. */
export function Members({ isKey }: { isKey: boolean }) {
  if (isKey)
    return <p className="panel p-4 text-muted">Sign in as a member to see who is here; a key sees no people.</p>
  return <People />
}

function People() {
  const query = useQuery(membersQuery)
  const may = useMay()
  const [inviting, setInviting] = useState(false)
  const [invite, setInvite] = useState<string | null>(null)
  const [changing, setChanging] = useState(false)
  return (
    <Section
      title="Members of the organisation"
      actions={
        <>
          <Button small onClick={() => setChanging(true)}>
            Your password
          </Button>
          <May least="admin">
            <Button small look="primary" onClick={() => setInviting(true)}>
              Invite
            </Button>
          </May>
        </>
      }
    >
      {!may('admin') && <OthersDo>admins invite and remove members</OthersDo>}
      <Loaded query={query}>
        {(members) => (
          <Table label="Members" head={['Email', 'Name', 'Status', 'Role']} acts={{ name: 'Remove', least: 'admin' }}>
            {members.map((member) => (
              <MemberRow key={member.id} member={member} />
            ))}
          </Table>
        )}
      </Loaded>
      {changing && <OwnPassword onClose={() => setChanging(false)} />}
      {inviting && <InviteForm onMade={setInvite} onClose={() => setInviting(false)} />}
      {invite && (
        <Once
          title="Invitation"
          lead="Send this link to whom you invite. It works once and is not shown again."
          value={`${location.origin}/sign-in#invite=${encodeURIComponent(invite)}`}
          onClose={() => setInvite(null)}
        />
      )}
    </Section>
  )
}

function MemberRow({ member: { id, email, name, status, role } }: { member: Member }) {
  const may = useMay()
  // Only owners make, change and remove owners.
  const least = role === 'owner' ? 'owner' : 'admin'
  const given = ROLES.filter(may)
  const stale = ['members']
  const change = useWrite((to: string) => call(`/v1/members/${id}`, { method: 'PUT', body: { role: to } }), { stale })
  const remove = useWrite(() => call(`/v1/members/${id}`, { method: 'DELETE' }), { stale })
  return (
    <tr>
      <td className="font-medium">{email}</td>
      <td>{name ?? '—'}</td>
      <td className="text-muted">{status}</td>
      <td>
        <May least={least} otherwise={role}>
          <select
            aria-label={`Role of ${email}`}
            className="field h-7 w-28 py-0"
            value={role}
            disabled={change.isPending}
            onChange={(event) => change.mutate(event.target.value)}
          >
            {(status === 'invited' ? given.slice(0, given.indexOf(role) + 1) : given).toReversed().map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </May>
      </td>
      <Acts least="admin">
        <May least={least}>
          <WriteButton small look="danger" write={remove} sure={`Remove ${email}?`}>
            Remove<span className="sr-only"> {email}</span>
          </WriteButton>
        </May>
      </Acts>
    </tr>
  )
}

function InviteForm({ onMade, onClose }: { onMade: (invite: string) => void; onClose: () => void }) {
  const [email, setEmail] = useState('')
  const [role, setRole] = useState('operator')
  const given = ROLES.filter(useMay()).toReversed()
  const send = useWrite(() => call<{ invite: string }>('/v1/members', { method: 'POST', body: { email, role } }), {
    stale: ['members'],
    onDone: ({ invite }) => {
      onClose()
      onMade(invite)
    },
  })
  return (
    <FormDialog
      title="Invite someone"
      submit="Make the invitation"
      ready={email.includes('@')}
      write={send}
      onClose={onClose}
    >
      <Text label="Email" type="email" value={email} onChange={setEmail} />
      <Choice label="Role" value={role} options={given.map((one) => [one, one])} onChange={setRole} />
    </FormDialog>
  )
}
