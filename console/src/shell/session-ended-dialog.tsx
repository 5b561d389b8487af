import { type QueryClient, useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import * as credential from '../api/credential.ts'
import { callOperation, errorMessage } from '../api/http.ts'
import { ApiError } from '../api/request.ts'
import { sessionQuery } from '../api/queries.ts'
import { apiText } from '../api/text.ts'
import type { Session } from '../api/types.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { TextField } from '../ui/form-fields.tsx'
import { ErrorMessage } from '../ui/page-states.tsx'
import { startLiveUpdates } from './live-status.tsx'
import { useSignOut } from './nav.tsx'
import { type SessionEnd, setSessionEnd, useSessionEnd } from './session-end.ts'
import { shellText } from './text.ts'

const text = shellText.sessionEnded

/** Asks for the password or the API key again, over the page that was open. */
export function SessionEndedDialog() {
  const end = useSessionEnd()
  const session = useQueryClient().getQueryData<Session>(sessionQuery.queryKey)
  return end && session ? <SignInAgain session={session} end={end} /> : null
}

function SignInAgain({ session, end }: { session: Session; end: SessionEnd }) {
  const queries = useQueryClient()
  const signOut = useSignOut()
  const [secret, setSecret] = useState('')
  const signIn = useMutation({ mutationFn: () => resumeSession(queries, session, end, secret) })
  return (
    // Nothing on the page works without a session, so the dialog cannot be closed.
    <Dialog label={text.title} onClose={() => {}} onDismiss={() => {}} className="max-w-sm">
      <form className="flex flex-col gap-3 p-5" onSubmit={(event) => (event.preventDefault(), signIn.mutate())}>
        <h2 className="text-base font-semibold">{text.title}</h2>
        <p className="text-muted">{text.lead}</p>
        {session.member && <p className="font-medium break-words">{session.member.email}</p>}
        <TextField
          label={session.member ? text.password : text.apiKey}
          type="password"
          autoComplete={session.member ? 'current-password' : 'off'}
          value={secret}
          onChange={setSecret}
        />
        {signIn.error && <ErrorMessage message={problemText(signIn.error, session)} />}
        <div className="flex gap-2">
          <Button type="submit" variant="primary" disabled={signIn.isPending || secret === ''}>
            {text.signIn}
          </Button>
          <Button variant="ghost" onClick={() => void signOut()}>
            {shellText.signOut}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

function problemText(error: unknown, { member }: Session): string {
  return !member && error instanceof ApiError && error.status === 401 ? apiText.wrongKey : errorMessage(error)
}

async function resumeSession(queries: QueryClient, old: Session, end: SessionEnd, secret: string): Promise<void> {
  const token = await requestToken(old, secret)
  const authorization = `Bearer ${token}`
  const session = await callOperation('getSession', {}, { allProjects: true, headers: { authorization } })
  // The page shows data of the old organisation.
  if (session.organisation.id !== old.organisation.id) throw new Error(text.otherOrganisation)
  credential.saveToken(token, end.staySignedIn)
  queries.setQueryData(sessionQuery.queryKey, session)
  setSessionEnd(null)
  await startLiveUpdates(queries)
  void queries.invalidateQueries()
}

async function requestToken({ member }: Session, secret: string): Promise<string> {
  if (!member) return secret.trim()
  const body = { email: member.email, password: secret }
  return (await callOperation('signIn', { body })).session_token
}
