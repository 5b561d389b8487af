import { useQueryClient } from '@tanstack/react-query'
import { getRouteApi, useRouter } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import * as credential from '../api/credential.ts'
import { callApi, errorMessage } from '../api/http.ts'
import { sessionQuery } from '../api/queries.ts'
import type { SignInResult } from '../api/types.ts'
import { Button } from '../ui/button.tsx'
import { ErrorMessage } from '../ui/page-states.tsx'
import { Checkbox, TextField } from '../ui/form-fields.tsx'
import { Tabs } from '../ui/tabs.tsx'

const route = getRouteApi('/sign-in')

type SignInMethod = 'login' | 'signup' | 'key' | 'accept'

const METHODS: { value: SignInMethod; label: string }[] = [
  { value: 'login', label: 'Sign in' },
  { value: 'signup', label: 'Sign up' },
  { value: 'key', label: 'API key' },
]

const VERBS: Record<SignInMethod, string> = {
  login: 'Sign in',
  signup: 'Create the account',
  key: 'Use this key',
  accept: 'Join',
}

/** An invite comes behind the `#`, which no server ever sees. */
const inviteOf = (hash: string): string => new URLSearchParams(hash.slice(1)).get('invite') ?? ''

export function SignInPage() {
  const [invite] = useState(() => inviteOf(location.hash))
  const [way, setWay] = useState<SignInMethod>(invite ? 'accept' : 'login')
  const [pasted, setPasted] = useState('')
  const [stay, setStay] = useState(false)
  const { submit, busy, problem, asksKey } = useSignIn(way, invite, stay)
  // A fresh start gives a key and has no member yet, but the page opens on the email.
  const onEmail = (email: string) => {
    if (!email.startsWith('svc_key_')) return
    setPasted(email)
    setWay('key')
  }
  return (
    <main className="grid min-h-dvh place-items-center p-4">
      <div className="panel w-full max-w-sm p-6">
        <h1 className="text-lg font-semibold">Agent Work Service</h1>
        <p className="mb-4 text-muted">{invite ? 'You are invited. Choose a password.' : 'The founder’s console'}</p>
        {!invite && <Tabs label="How to sign in" value={way} onChange={setWay} tabs={METHODS} />}
        <form key={way} className="mt-4 flex flex-col gap-3" onSubmit={(event) => void submit(event)}>
          <SignInFields way={way} pasted={pasted} onEmail={onEmail} />
          {way === 'signup' && asksKey && <FounderKeyField />}
          <Checkbox label="Stay signed in on this computer" checked={stay} onChange={setStay} />
          {problem && <ErrorMessage message={problem} />}
          <Button type="submit" variant="primary" disabled={busy}>
            {VERBS[way]}
          </Button>
        </form>
      </div>
    </main>
  )
}

function SignInFields({
  way,
  pasted,
  onEmail,
}: {
  way: SignInMethod
  pasted: string
  onEmail: (email: string) => void
}) {
  if (way === 'key') {
    return (
      <TextField
        label="API key"
        name="key"
        type="password"
        required
        autoFocus
        autoComplete="off"
        placeholder="svc_key_…"
        defaultValue={pasted}
        hint="The first start of the service prints the founder key once."
      />
    )
  }
  const fresh = way !== 'login'
  return (
    <>
      {fresh && <TextField label="Your name" name="name" autoComplete="name" />}
      {way === 'signup' && <TextField label="Organisation" name="organisation" autoComplete="organization" />}
      {way !== 'accept' && (
        <TextField
          label="Email"
          name="email"
          type="email"
          required
          autoFocus
          autoComplete="username"
          onChange={onEmail}
        />
      )}
      <TextField
        label="Password"
        name="password"
        type="password"
        required
        minLength={fresh ? 10 : undefined}
        autoComplete={fresh ? 'new-password' : 'current-password'}
        hint={fresh && 'At least 10 characters.'}
      />
      {way === 'signup' && (
        <p className="text-xs text-muted">
          The first to sign up owns this deployment, with the tasks and keys it has already.
        </p>
      )}
    </>
  )
}

/** Who comes from elsewhere proves with it that the deployment is theirs. */
function FounderKeyField() {
  return (
    <TextField
      label="Founder key"
      name="founder_key"
      type="password"
      required
      autoFocus
      autoComplete="off"
      placeholder="svc_key_…"
      hint="The first start of the service prints it once, or SVC_FOUNDER_API_KEY sets it."
    />
  )
}

function useSignIn(way: SignInMethod, invite: string, stay: boolean) {
  const router = useRouter()
  const { to = '/' } = route.useSearch()
  const queries = useQueryClient()
  const [problem, setProblem] = useState<string | null>(null)
  const [busy, setBusy] = useState(false)
  const [asksKey, setAsksKey] = useState(false)
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const given = formValues(event.currentTarget)
    setBusy(true)
    setProblem(null)
    try {
      credential.clearToken()
      credential.setProject(null)
      credential.saveToken(await requestToken(way, given, invite), stay)
      await queries.fetchQuery({ ...sessionQuery, staleTime: 0 })
      router.history.push(to)
    } catch (error) {
      credential.clearToken()
      const message = errorMessage(error)
      setProblem(message)
      setAsksKey((asked) => asked || message.includes('founder key'))
    } finally {
      setBusy(false)
    }
  }
  return { submit, busy, problem, asksKey }
}

async function requestToken(way: SignInMethod, given: Record<string, string>, invite: string): Promise<string> {
  if (way === 'key') return given['key']?.trim() ?? ''
  const { founder_key: key, ...rest } = given
  const body = way === 'accept' ? { ...rest, invite } : rest
  const headers: Record<string, string> = key ? { authorization: `Bearer ${key.trim()}` } : {}
  const { session_token } = await callApi<SignInResult>(`/v1/auth/${way}`, { method: 'POST', body, headers })
  return session_token
}

/** What was filled in; an empty field is not sent. */
function formValues(form: HTMLFormElement): Record<string, string> {
  const entries = [...new FormData(form)].map(([name, value]) => [name, typeof value === 'string' ? value : ''])
  return Object.fromEntries(entries.filter(([, value]) => value !== ''))
}
