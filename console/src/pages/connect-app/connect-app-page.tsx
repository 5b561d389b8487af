import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import * as credential from '../../api/credential.ts'
import { callOperation, errorMessage } from '../../api/http.ts'
import { useApiMutation } from '../../api/mutation.ts'
import { sessionQuery } from '../../api/queries.ts'
import { consentParams, consentQuery } from '../../api/setup-queries.ts'
import { type Project, type Role, ROLES, type Schemas } from '../../api/types.ts'
import { Button } from '../../ui/button.tsx'
import { Select } from '../../ui/form-fields.tsx'
import { ErrorMessage, Placeholder } from '../../ui/page-states.tsx'
import { uiText } from '../../ui/text.ts'
import { connectAppText as text } from './text.ts'

const route = getRouteApi('/connect-app')

/** A signed-in member gives an app access to the MCP endpoint. Nothing happens before the button is pressed. */
export function ConnectAppPage() {
  const { request: encoded = '' } = route.useSearch()
  const request = decodeRequest(encoded)
  const { data: session } = useQuery(sessionQuery)
  if (!session) return null
  if (session.member === null) return <SignInWithAccount />
  return <ConsentPage request={request} role={session.role} projects={session.projects} />
}

/** The query with which the app opened the authorisation endpoint, as base64url; empty if it is not. */
function decodeRequest(encoded: string): string {
  try {
    return atob(encoded.replaceAll('-', '+').replaceAll('_', '/'))
  } catch {
    return ''
  }
}

function ConsentPage({ request, role, projects }: { request: string; role: Role; projects: Project[] }) {
  const consent = useQuery(consentQuery(request))
  if (consent.error)
    return (
      <Panel title={text.refused}>
        <ErrorMessage message={errorMessage(consent.error)} />
        <Button onClick={() => location.assign('/')}>{text.home}</Button>
      </Panel>
    )
  if (!consent.data)
    return (
      <Panel title={text.loading}>
        <Placeholder />
      </Panel>
    )
  const { error, return_url } = consent.data
  if (error !== null)
    return (
      <Panel title={text.refused}>
        <ErrorMessage message={error} />
        <Button onClick={() => location.assign(return_url)}>{text.back}</Button>
      </Panel>
    )
  return <ConsentForm request={request} consent={consent.data} role={role} projects={projects} />
}

function ConsentForm({
  request,
  consent: { app, return_url },
  role: ownRole,
  projects,
}: {
  request: string
  consent: Schemas.McpConsent
  role: Role
  projects: Project[]
}) {
  const [projectId, setProjectId] = useState(credential.getProject() ?? projects[0]?.id ?? '')
  const [role, setRole] = useState<Role>(ownRole === 'viewer' ? 'viewer' : 'operator')
  const allow = useApiMutation(
    () =>
      callOperation(
        'createMcpAuthorisation',
        { body: { ...consentParams(request), project_id: projectId, role } },
        { allProjects: true },
      ),
    { invalidates: [], onSuccess: ({ redirect_to }) => location.assign(redirect_to) },
  )
  const roles = ROLES.slice(0, ROLES.indexOf(ownRole) + 1)
  return (
    <Panel title={text.title(app.name)}>
      <p>{text.lead(app.name, app.redirect_host)}</p>
      <p className="rounded-md bg-wait-soft px-3 py-2 text-wait">{text.warning}</p>
      <Select
        label={text.project}
        value={projectId}
        options={projects.map(({ id, name }) => [id, name])}
        onChange={setProjectId}
      />
      <Select
        label={text.role}
        value={role}
        options={roles.map((one) => [one, uiText.role[one]])}
        onChange={(to) => setRole(roles.find((one) => one === to) ?? 'viewer')}
      />
      <p className="text-xs text-muted">
        {text.roleHints[role]} {text.revokeHint}
      </p>
      <div className="flex justify-end gap-2">
        <Button onClick={() => location.assign(return_url)}>{text.cancel}</Button>
        <Button variant="primary" disabled={allow.isPending || allow.isSuccess} onClick={() => allow.mutate()}>
          {text.allow}
        </Button>
      </div>
    </Panel>
  )
}

/** The page asks for a sign-in when it is loaded without a credential. */
function signOut(): void {
  credential.clearToken()
  location.reload()
}

function SignInWithAccount() {
  return (
    <Panel title={text.refused}>
      <p>{text.signInWithAccount}</p>
      <Button variant="primary" onClick={signOut}>
        {text.signIn}
      </Button>
    </Panel>
  )
}

function Panel({ title, children }: { title: string; children: ReactNode }) {
  return (
    <main className="grid min-h-dvh place-items-center p-4">
      <div className="panel flex w-full max-w-md flex-col gap-4 p-6">
        <h1 className="text-lg font-semibold break-words">{title}</h1>
        {children}
      </div>
    </main>
  )
}
