import { useQueryClient } from '@tanstack/react-query'
import { getRouteApi, useRouter } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import * as credential from '../api/credential.ts'
import { call, messageOf } from '../api/http.ts'
import { sessionQuery } from '../api/queries.ts'
import type { SignedIn } from '../api/types.ts'
import { Button } from '../ui/button.tsx'
import { Failure } from '../ui/empty.tsx'
import { Check, Text } from '../ui/form.tsx'
import { Tabs } from '../ui/tabs.tsx'

const route = getRouteApi('/sign-in')

type Way = 'login' | 'signup' | 'key' | 'accept'

const WAYS: { value: Way; label: string }[] = [
  { value: 'login', label: 'Sign in' },
  { value: 'signup', label: 'Sign up' },
  { value: 'key', label: 'API key' },
]

const VERBS: Record<Way, string> = {
  login: 'Sign in',
  signup: 'Create the account',
  key: 'Use this key',
  accept: 'Join',
}

/** An invite comes behind the `#`, which no server ever sees. */
const inviteOf = (hash: string): string => new URLSearchParams(hash.slice(1)).get('invite') ?? ''

export function SignIn() {
  const [invite] = useState(() => inviteOf(location.hash))
  const [way, setWay] = useState<Way>(invite ? 'accept' : 'login')
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
        {!invite && <Tabs label="How to sign in" value={way} onChange={setWay} tabs={WAYS} />}
        <form key={way} className="mt-4 flex flex-col gap-3" onSubmit={(event) => void submit(event)}>
          <Inputs way={way} pasted={pasted} onEmail={onEmail} />
          {way === 'signup' && asksKey && <FounderKey />}
          <Check label="Stay signed in on this computer" checked={stay} onChange={setStay} />
          {problem && <Failure message={problem} />}
          <Button type="submit" look="primary" disabled={busy}>
            {VERBS[way]}
          </Button>
        </form>
      </div>
    </main>
  )
}

function Inputs({ way, pasted, onEmail }: { way: Way; pasted: string; onEmail: (email: string) => void }) {
  if (way === 'key') {
    return (
      <Text
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
      {fresh && <Text label="Your name" name="name" autoComplete="name" />}
      {way === 'signup' && <Text label="Organisation" name="organisation" autoComplete="organization" />}
      {way !== 'accept' && (
        <Text label="Email" name="email" type="email" required autoFocus autoComplete="username" onChange={onEmail} />
      )}
      <Text
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
function FounderKey() {
  return (
    <Text
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

function useSignIn(way: Way, invite: string, stay: boolean) {
  const router = useRouter()
  const { to = '/' } = route.useSearch()
  const queries = useQueryClient()
  const [problem, setProblem] = useState<string | null>(null)
  const [busy, setBusy] = useState(false)
  const [asksKey, setAsksKey] = useState(false)
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const given = valuesOf(event.currentTarget)
    setBusy(true)
    setProblem(null)
    try {
      credential.forget()
      credential.chooseProject(null)
      credential.keepToken(await tokenFor(way, given, invite), stay)
      await queries.fetchQuery({ ...sessionQuery, staleTime: 0 })
      router.history.push(to)
    } catch (error) {
      credential.forget()
      const message = messageOf(error)
      setProblem(message)
      setAsksKey((asked) => asked || message.includes('founder key'))
    } finally {
      setBusy(false)
    }
  }
  return { submit, busy, problem, asksKey }
}

async function tokenFor(way: Way, given: Record<string, string>, invite: string): Promise<string> {
  if (way === 'key') return given['key']?.trim() ?? ''
  const { founder_key: key, ...rest } = given
  const body = way === 'accept' ? { ...rest, invite } : rest
  const headers: Record<string, string> = key ? { authorization: `Bearer ${key.trim()}` } : {}
  const { session_token } = await call<SignedIn>(`/v1/auth/${way}`, { method: 'POST', body, headers })
  return session_token
}

/** What was filled in; an empty field is not sent. */
function valuesOf(form: HTMLFormElement): Record<string, string> {
  const entries = [...new FormData(form)].map(([name, value]) => [name, typeof value === 'string' ? value : ''])
  return Object.fromEntries(entries.filter(([, value]) => value !== ''))
}
