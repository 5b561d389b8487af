import { useQueryClient } from '@tanstack/react-query'
import { getRouteApi, useRouter } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import * as credential from '../../api/credential.ts'
import { callOperation, errorMessage } from '../../api/http.ts'
import { ApiError } from '../../api/request.ts'
import { sessionQuery } from '../../api/queries.ts'
import { apiText } from '../../api/text.ts'
import { MIN_PASSWORD_CHARS } from '../../api/types.ts'
import { getSessionEnd, setSessionEnd } from '../../shell/session-end.ts'
import { Button } from '../../ui/button.tsx'
import { ErrorMessage } from '../../ui/page-states.tsx'
import { Checkbox, TextField } from '../../ui/form-fields.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { signInText } from './text.ts'

const route = getRouteApi('/sign-in')

type SignInMethod = 'login' | 'signup' | 'key' | 'accept'

const METHODS: { value: SignInMethod; label: string }[] = [
  { value: 'login', label: signInText.signIn },
  { value: 'signup', label: signInText.signUp },
  { value: 'key', label: signInText.apiKey },
]

const SUBMIT_LABELS: Record<SignInMethod, string> = {
  login: signInText.signIn,
  signup: signInText.createAccount,
  key: signInText.continue,
  accept: signInText.join,
}

/** The invite is in the fragment of the URL, which browsers do not send to servers. */
function parseInvite(hash: string): { invite: string; organisation: string } {
  const params = new URLSearchParams(hash.slice(1))
  return { invite: params.get('invite') ?? '', organisation: params.get('organisation') ?? '' }
}

export function SignInPage() {
  const [{ invite, organisation }] = useState(() => parseInvite(location.hash))
  const { method: asked } = route.useSearch()
  const { has_owner: hasOwner, open } = route.useRouteContext().signup
  const [method, setMethod] = useState<SignInMethod>(invite ? 'accept' : (asked ?? (hasOwner ? 'login' : 'key')))
  const [pasted, setPasted] = useState('')
  const [staySignedIn, setStaySignedIn] = useState(false)
  const { submit, busy, problem } = useSignIn(method, invite, staySignedIn)
  // People who have only a key may paste it into the email field.
  const onEmail = (email: string) => {
    if (!email.startsWith('svc_key_')) return
    setPasted(email)
    setMethod('key')
  }
  return (
    <main className="grid min-h-dvh place-items-center p-4">
      <div className="panel w-full max-w-sm p-6">
        <h1 className="text-lg font-semibold">{signInText.title}</h1>
        <p className="mb-4 text-muted">{invite ? signInText.invited(organisation) : signInText.lead}</p>
        {!invite && <Tabs label={signInText.methods} value={method} onChange={setMethod} tabs={METHODS} />}
        <form key={method} className="mt-4 flex flex-col gap-3" onSubmit={(event) => void submit(event)}>
          <SignInFields method={method} pasted={pasted} onEmail={onEmail} />
          {method === 'signup' && <FounderKeyField required={!hasOwner && !open} />}
          <Checkbox label={signInText.staySignedIn} checked={staySignedIn} onChange={setStaySignedIn} />
          {problem && <ErrorMessage message={problem} />}
          <Button type="submit" variant="primary" disabled={busy}>
            {SUBMIT_LABELS[method]}
          </Button>
        </form>
      </div>
    </main>
  )
}

function SignInFields({
  method,
  pasted,
  onEmail,
}: {
  method: SignInMethod
  pasted: string
  onEmail: (email: string) => void
}) {
  if (method === 'key') {
    return (
      <TextField
        label={signInText.apiKey}
        name="key"
        type="password"
        required
        autoFocus
        autoComplete="off"
        placeholder={signInText.keyPlaceholder}
        defaultValue={pasted}
        hint={signInText.keyHint}
      />
    )
  }
  const isNew = method !== 'login'
  return (
    <>
      {isNew && <TextField label={signInText.yourName} name="name" autoComplete="name" />}
      {method === 'signup' && (
        <TextField label={signInText.organisation} name="organisation" autoComplete="organization" />
      )}
      {method !== 'accept' && (
        <TextField
          label={signInText.email}
          name="email"
          type="email"
          required
          autoFocus
          autoComplete="username"
          onChange={onEmail}
        />
      )}
      <TextField
        label={signInText.password}
        name="password"
        type="password"
        required
        minLength={isNew ? MIN_PASSWORD_CHARS : undefined}
        autoComplete={isNew ? 'new-password' : 'current-password'}
        hint={isNew && signInText.passwordHint(MIN_PASSWORD_CHARS)}
      />
      {method === 'signup' && <p className="text-xs text-muted">{signInText.firstAccount}</p>}
    </>
  )
}

/** The first sign-up must prove ownership of the deployment with this key. */
function FounderKeyField({ required }: { required: boolean }) {
  return (
    <TextField
      label={signInText.founderKey}
      name="founder_key"
      type="password"
      required={required}
      autoComplete="off"
      placeholder={signInText.keyPlaceholder}
      hint={signInText.founderKeyHint}
    />
  )
}

function useSignIn(method: SignInMethod, invite: string, staySignedIn: boolean) {
  const router = useRouter()
  const { to = '/' } = route.useSearch()
  const queries = useQueryClient()
  const [problem, setProblem] = useState(getSessionEnd() ? signInText.sessionEnded : null)
  const [busy, setBusy] = useState(false)
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const values = formValues(event.currentTarget)
    setBusy(true)
    setProblem(null)
    try {
      credential.clearToken()
      credential.setProject(null)
      const token = await requestToken(method, values, invite)
      // Saved only after the server accepted it: a refusal of a saved token ends the session and cancels this request.
      await callOperation('getSession', {}, { allProjects: true, headers: { authorization: `Bearer ${token}` } })
      credential.saveToken(token, staySignedIn)
      setSessionEnd(null)
      await queries.fetchQuery({ ...sessionQuery, staleTime: 0 })
      router.history.push(to)
    } catch (error) {
      credential.clearToken()
      const isWrongKey = method === 'key' && error instanceof ApiError && error.status === 401
      setProblem(isWrongKey ? apiText.wrongKey : errorMessage(error))
    } finally {
      setBusy(false)
    }
  }
  return { submit, busy, problem }
}

async function requestToken(method: SignInMethod, values: Record<string, string>, invite: string): Promise<string> {
  if (method === 'key') return values['key']?.trim() ?? ''
  const { founder_key: key, email = '', password = '', ...rest } = values
  const headers: Record<string, string> = key ? { authorization: `Bearer ${key.trim()}` } : {}
  const { session_token } = await (method === 'accept'
    ? callOperation('acceptInvite', { body: { ...rest, invite, password } })
    : method === 'signup'
      ? callOperation('signUp', { body: { ...rest, email, password } }, { headers })
      : callOperation('signIn', { body: { email, password } }))
  return session_token
}

/** The filled-in fields; empty fields are left out. */
function formValues(form: HTMLFormElement): Record<string, string> {
  const entries = [...new FormData(form)].map(([name, value]) => [name, typeof value === 'string' ? value : ''])
  return Object.fromEntries(entries.filter(([, value]) => value !== ''))
}
