import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { callApi } from '../../api/http.ts'
import { type Member, membersQuery } from '../../api/setup-queries.ts'
import { ROLES } from '../../api/types.ts'
import { useApiMutation } from '../../api/mutation.ts'
import { Button } from '../../ui/button.tsx'
import { Select, TextField } from '../../ui/form-fields.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { QueryResult } from '../../ui/query-result.tsx'
import { RequireRole, RoleHint, useHasRole } from '../../ui/role.tsx'
import { ShowOnce } from '../../ui/show-once.tsx'
import { RowActions, Table } from '../../ui/table.tsx'
import { MutationButton } from '../../ui/mutation-button.tsx'
import { Section } from '../../ui/page.tsx'
import { PasswordDialog } from './password-dialog.tsx'

/** People of the organisation. A key is no person and sees none. */
export function Members({ isKey }: { isKey: boolean }) {
  if (isKey)
    return <p className="panel p-4 text-muted">Sign in as a member to see who is here; a key sees no people.</p>
  return <MemberList />
}

function MemberList() {
  const query = useQuery(membersQuery)
  const may = useHasRole()
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
          <RequireRole minRole="admin">
            <Button small variant="primary" onClick={() => setInviting(true)}>
              Invite
            </Button>
          </RequireRole>
        </>
      }
    >
      {!may('admin') && <RoleHint>admins invite and remove members</RoleHint>}
      <QueryResult query={query}>
        {(members) => (
          <Table
            label="Members"
            columns={['Email', 'Name', 'Status', 'Role']}
            actions={{ name: 'Remove', minRole: 'admin' }}
          >
            {members.map((member) => (
              <MemberRow key={member.id} member={member} />
            ))}
          </Table>
        )}
      </QueryResult>
      {changing && <PasswordDialog onClose={() => setChanging(false)} />}
      {inviting && <InviteForm onMade={setInvite} onClose={() => setInviting(false)} />}
      {invite && (
        <ShowOnce
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
  const may = useHasRole()
  // Only owners make, change and remove owners.
  const least = role === 'owner' ? 'owner' : 'admin'
  const given = ROLES.filter(may)
  const invalidates = ['members']
  const change = useApiMutation((to: string) => callApi(`/v1/members/${id}`, { method: 'PUT', body: { role: to } }), {
    invalidates,
  })
  const remove = useApiMutation(() => callApi(`/v1/members/${id}`, { method: 'DELETE' }), { invalidates })
  return (
    <tr>
      <td className="font-medium">{email}</td>
      <td>{name ?? '—'}</td>
      <td className="text-muted">{status}</td>
      <td>
        <RequireRole minRole={least} fallback={role}>
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
        </RequireRole>
      </td>
      <RowActions minRole="admin">
        <RequireRole minRole={least}>
          <MutationButton small variant="danger" mutation={remove} confirmText={`Remove ${email}?`}>
            Remove<span className="sr-only"> {email}</span>
          </MutationButton>
        </RequireRole>
      </RowActions>
    </tr>
  )
}

function InviteForm({ onMade, onClose }: { onMade: (invite: string) => void; onClose: () => void }) {
  const [email, setEmail] = useState('')
  const [role, setRole] = useState('operator')
  const given = ROLES.filter(useHasRole()).toReversed()
  const send = useApiMutation(
    () => callApi<{ invite: string }>('/v1/members', { method: 'POST', body: { email, role } }),
    {
      invalidates: ['members'],
      onSuccess: ({ invite }) => {
        onClose()
        onMade(invite)
      },
    },
  )
  return (
    <FormDialog
      title="Invite someone"
      submitLabel="Make the invitation"
      canSubmit={email.includes('@')}
      mutation={send}
      onClose={onClose}
    >
      <TextField label="Email" type="email" value={email} onChange={setEmail} />
      <Select label="Role" value={role} options={given.map((one) => [one, one])} onChange={setRole} />
    </FormDialog>
  )
}
