import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { testConnection } from '../../api/connection-queries.ts'
import { callOperation } from '../../api/http.ts'
import { toObject } from '../../api/json.ts'
import { useApiMutation } from '../../api/mutation.ts'
import type { Connection } from '../../api/setup-queries.ts'
import { Button } from '../../ui/button.tsx'
import { MutationButton } from '../../ui/mutation-button.tsx'
import { showToast } from '../../ui/toast.tsx'
import { chooseRepair } from './choose-repair.ts'
import { ConnectionForm } from './connection-form.tsx'
import { openAuthorisation, startOauth } from './open-authorisation.ts'
import { connectionsText } from './text.ts'

const invalidates = ['connections', 'blueprints']

interface ActionProps {
  connection: Connection
  small?: boolean
}

/** The card or page keeps the dialog open, because these buttons may vanish as soon as the secret is stored. */
interface ConnectProps extends ActionProps {
  onConnect: () => void
}

/** Tests the connection and shows the result in words. */
export function TestButton({ connection: { id, name }, small = true }: ActionProps) {
  const test = useApiMutation(() => testConnection(id), {
    invalidates,
    onSuccess: ({ ok, error, checked }) =>
      showToast(ok ? connectionsText.testPassed(name, checked) : connectionsText.testFailed(name, error), !ok),
  })
  return (
    <MutationButton small={small} mutation={test}>
      {connectionsText.test}
    </MutationButton>
  )
}

/** Whether a person authorises the connection on the provider's page. */
function usesOauth({ config }: Connection): boolean {
  const { type, grant } = toObject(config['auth'])
  return type === 'mcp' || (type === 'oauth2' && grant !== 'client_credentials')
}

interface RepairProps extends ConnectProps {
  /** The card or page keeps this dialog open too. */
  onEdit: () => void
}

/** The button that repairs a connection which does not work, if a new address or credential can repair it. */
export function RepairButton({ onEdit, ...props }: RepairProps) {
  const repair = chooseRepair(props.connection)
  if (repair === 'credential') return <CredentialButton {...props} />
  if (repair === null) return null
  return (
    <Button small onClick={onEdit}>
      {connectionsText.checkAddress}
    </Button>
  )
}

/** Authorises the connection again, or writes its secret again. */
function CredentialButton({ connection, small = true, onConnect }: ConnectProps) {
  if (connection.kind === 'broker') return <BrokerButton connection={connection} small={small} />
  // An OAuth connection without the client secret cannot start its authorisation.
  if (usesOauth(connection) && (connection.has_secret || connection.kind === 'mcp')) {
    return <OauthButton connection={connection} small={small} />
  }
  return <SecretButton connection={connection} small={small} onConnect={onConnect} />
}

function BrokerButton({ connection: { id }, small = true }: ActionProps) {
  const authorise = useApiMutation(() => callOperation('connectAccount', { id, body: {} }), {
    invalidates,
    onSuccess: openAuthorisation,
  })
  return (
    <MutationButton small={small} mutation={authorise}>
      {connectionsText.authorise}
    </MutationButton>
  )
}

function OauthButton({ connection: { id, status }, small = true }: ActionProps) {
  const start = useApiMutation(() => startOauth(id, `/connections/${id}`), { invalidates })
  return (
    <MutationButton small={small} mutation={start}>
      {status === 'connected' ? connectionsText.reconnect : connectionsText.authorise}
    </MutationButton>
  )
}

function SecretButton({ connection: { has_secret }, small = true, onConnect }: ConnectProps) {
  return (
    <Button small={small} onClick={onConnect}>
      {has_secret ? connectionsText.replaceSecret : connectionsText.setSecret}
    </Button>
  )
}

/** All actions of the connection's page. */
export function ConnectionActions({ connection, onConnect }: { connection: Connection; onConnect: () => void }) {
  const [editing, setEditing] = useState(false)
  const navigate = useNavigate()
  const { id, name } = connection
  const remove = useApiMutation(() => callOperation('deleteConnection', { id }), {
    invalidates: [],
    // The page is left first, because its queries would find nothing.
    onSuccess: () => void navigate({ to: '/connections' }),
  })
  return (
    <>
      <TestButton connection={connection} small={false} />
      <CredentialButton connection={connection} small={false} onConnect={onConnect} />
      {usesOauth(connection) && connection.has_secret && (
        <SecretButton connection={connection} small={false} onConnect={onConnect} />
      )}
      <Button onClick={() => setEditing(true)}>{connectionsText.edit}</Button>
      <MutationButton variant="danger" mutation={remove} confirmText={connectionsText.confirmDelete(name)}>
        {connectionsText.delete}
      </MutationButton>
      {editing && <ConnectionForm connection={connection} onClose={() => setEditing(false)} />}
    </>
  )
}
