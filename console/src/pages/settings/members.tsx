import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { callOperation } from '../../api/http.ts'
import { type Member, membersQuery } from '../../api/setup-queries.ts'
import { sessionQuery, signupQuery } from '../../api/queries.ts'
import { type Role, ROLES } from '../../api/types.ts'
import { useApiMutation } from '../../api/mutation.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Select, TextField } from '../../ui/form-fields.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { QueryResult } from '../../ui/query-result.tsx'
import { RequireRole, RoleHint, useHasRole } from '../../ui/role.tsx'
import { ShowOnce } from '../../ui/show-once.tsx'
import { Tag } from '../../ui/status.tsx'
import { RowActions, Table } from '../../ui/table.tsx'
import { MutationButton } from '../../ui/mutation-button.tsx'
import { Section } from '../../ui/page.tsx'
import { uiText } from '../../ui/text.ts'
import { PasswordDialog } from './password-dialog.tsx'
import { settingsText } from './text.ts'

const text = settingsText.members

/** The members of the organisation. The API does not show members to an API key. */
export function Members({ isKey }: { isKey: boolean }) {
  return isKey ? <AccountHint /> : <MemberList />
}

function AccountHint() {
  const { data: signup } = useQuery(signupQuery)
  if (!signup) return null
  const to = '/settings?view=members'
  const search = signup.has_owner ? { to } : { to, method: 'signup' as const }
  return (
    <div className="panel flex flex-wrap items-center gap-3 p-4">
      <p className="text-muted">{signup.has_owner ? text.signInWithAccount : text.createOwner}</p>
      <Link to="/sign-in" search={search} className={buttonClass('primary')}>
        {signup.has_owner ? text.signIn : text.createAccount}
      </Link>
    </div>
  )
}

function MemberList() {
  const { data: session } = useQuery(sessionQuery)
  const query = useQuery(membersQuery)
  const hasRole = useHasRole()
  const [inviteOpen, setInviteOpen] = useState(false)
  const [invite, setInvite] = useState<string | null>(null)
  const [passwordOpen, setPasswordOpen] = useState(false)
  return (
    <Section
      title={text.title}
      actions={
        <>
          <Button small onClick={() => setPasswordOpen(true)}>
            {text.changePassword}
          </Button>
          <RequireRole minRole="admin">
            <Button small variant="primary" onClick={() => setInviteOpen(true)}>
              {text.invite}
            </Button>
          </RequireRole>
        </>
      }
    >
      {!hasRole('admin') && <RoleHint>{text.roleHint}</RoleHint>}
      <QueryResult query={query}>
        {(members) => (
          <Table
            label={text.label}
            columns={[settingsText.email, settingsText.name, text.status, settingsText.role]}
            actions={{ name: settingsText.actions, minRole: 'admin' }}
          >
            {members.map((member) => (
              <MemberRow
                key={member.id}
                member={member}
                isSelf={member.id === session?.member?.id}
                isOnlyOwner={isActiveOwner(member) && members.filter(isActiveOwner).length === 1}
              />
            ))}
          </Table>
        )}
      </QueryResult>
      {passwordOpen && <PasswordDialog onClose={() => setPasswordOpen(false)} />}
      {inviteOpen && <InviteForm onCreated={setInvite} onClose={() => setInviteOpen(false)} />}
      {invite && (
        <ShowOnce
          title={text.inviteLink}
          lead={text.inviteLinkHint}
          value={inviteUrl(invite, session?.organisation.name)}
          onClose={() => setInvite(null)}
        />
      )}
    </Section>
  )
}

/** The fragment is not sent to servers; the sign-in page reads the organisation's name from it. */
function inviteUrl(invite: string, organisation = ''): string {
  return `${location.origin}/sign-in#${new URLSearchParams({ invite, organisation }).toString()}`
}

const isActiveOwner = ({ role, status }: Member) => role === 'owner' && status === 'active'

interface MemberRowProps {
  member: Member
  isSelf: boolean
  /** The organisation must keep an owner, so this one can be neither removed nor demoted. */
  isOnlyOwner: boolean
}

function MemberRow({ member: { id, email, name, status, role }, isSelf, isOnlyOwner }: MemberRowProps) {
  const hasRole = useHasRole()
  // Only owners can add, change and remove owners.
  const minRole = role === 'owner' ? 'owner' : 'admin'
  const allowedRoles = ROLES.filter(hasRole)
  const invalidates = ['members']
  const change = useApiMutation((to: Role) => callOperation('updateMember', { id, body: { role: to } }), {
    invalidates,
  })
  const remove = useApiMutation(() => callOperation('deleteMember', { id }), { invalidates })
  return (
    <tr>
      <td className="font-medium">
        {email} {isSelf && <Tag tone="off">{text.you}</Tag>}
      </td>
      <td>{name ?? '—'}</td>
      <td className="text-muted">{text.statuses[status]}</td>
      <td>
        {isOnlyOwner ? (
          uiText.role[role]
        ) : (
          <RequireRole minRole={minRole} fallback={uiText.role[role]}>
            <select
              aria-label={text.roleOf(email)}
              className="field h-7 w-28 py-0"
              value={role}
              disabled={change.isPending}
              onChange={({ target }) => ROLES.filter((one) => one === target.value).forEach((to) => change.mutate(to))}
            >
              {(status === 'invited' ? allowedRoles.slice(0, allowedRoles.indexOf(role) + 1) : allowedRoles)
                .toReversed()
                .map((one) => (
                  <option key={one} value={one}>
                    {uiText.role[one]}
                  </option>
                ))}
            </select>
          </RequireRole>
        )}
      </td>
      <RowActions minRole="admin">
        {!isOnlyOwner && (
          <RequireRole minRole={minRole}>
            <MutationButton small variant="danger" mutation={remove} confirmText={text.confirmRemove(email)}>
              {text.remove}
              <span className="sr-only"> {email}</span>
            </MutationButton>
          </RequireRole>
        )}
      </RowActions>
    </tr>
  )
}

function InviteForm({ onCreated, onClose }: { onCreated: (invite: string) => void; onClose: () => void }) {
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<Role>('operator')
  const allowedRoles = ROLES.filter(useHasRole()).toReversed()
  const send = useApiMutation(() => callOperation('inviteMember', { body: { email, role } }), {
    invalidates: ['members'],
    onSuccess: ({ invite }) => {
      onClose()
      onCreated(invite)
    },
  })
  return (
    <FormDialog
      title={text.inviteTitle}
      submitLabel={text.createInvite}
      canSubmit={email.includes('@')}
      mutation={send}
      onClose={onClose}
    >
      <TextField label={settingsText.email} type="email" value={email} onChange={setEmail} />
      <Select
        label={settingsText.role}
        value={role}
        options={allowedRoles.map((one) => [one, uiText.role[one]])}
        onChange={setRole}
      />
    </FormDialog>
  )
}
