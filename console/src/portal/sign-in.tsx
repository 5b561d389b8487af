import { type FormEvent, useState } from 'react'
import { Button } from '../ui/button.tsx'
import { TextField } from '../ui/form-fields.tsx'
import { portalErrorMessage } from './error-message.ts'
import { Alert, PortalCard } from './frame.tsx'
import { usePortalText } from './language.tsx'
import {
  currentClient,
  isSessionExpired,
  openSession,
  type PortalBrand,
  requestLink,
  unsubscribe,
} from './portal-api.ts'

const BUTTON = 'h-11 text-[0.9375rem]'

/** The page that a sign-in link opens. */
export function LinkLanding({ brand, link, onOpen }: { brand: PortalBrand; link: string; onOpen: () => void }) {
  const text = usePortalText()
  const [problem, setProblem] = useState<string | null>(null)
  const [busy, setBusy] = useState(false)
  // The link was used or has expired.
  const [isDead, setIsDead] = useState(false)
  const open = async () => {
    setBusy(true)
    try {
      await openSession(link)
      onOpen()
    } catch (error) {
      // A used link must not keep out a client who is signed in.
      if (isSessionExpired(error) && (await currentClient())) return onOpen()
      setIsDead(isSessionExpired(error))
      setProblem(isSessionExpired(error) ? text.linkExpired : text.tryAgain)
      setBusy(false)
    }
  }
  return (
    <PortalCard brand={brand}>
      <h1 className="text-xl font-semibold">{text.welcome}</h1>
      {brand.welcome && <p className="whitespace-pre-wrap">{brand.welcome}</p>}
      <p className="text-muted">{text.linkHint}</p>
      {problem && <Alert>{problem}</Alert>}
      {!isDead && (
        <Button variant="primary" className={BUTTON} disabled={busy} onClick={() => void open()}>
          {text.continue}
        </Button>
      )}
      {problem && brand.can_mail_links && <LinkForm brand={brand} variant="plain" />}
    </PortalCard>
  )
}

/** The client signed out, or its session was refused; null: the browser had no session. */
export type SignOutReason = 'asked' | 'ended' | null

export function SignedOut({ brand, reason }: { brand: PortalBrand; reason: SignOutReason }) {
  const text = usePortalText()
  return (
    <PortalCard brand={brand}>
      <h1 className="text-xl font-semibold">{reason === 'asked' ? text.signedOut : text.signIn}</h1>
      {reason === 'ended' && <Alert>{text.sessionEnded}</Alert>}
      {brand.welcome && <p className="whitespace-pre-wrap">{brand.welcome}</p>}
      <p className="text-muted">{text.signedOutHint}</p>
      {brand.can_mail_links && <LinkForm brand={brand} variant="primary" />}
    </PortalCard>
  )
}

/** Asks for a new link. The response does not say whether the address is known. */
function LinkForm({ brand, variant }: { brand: PortalBrand; variant: 'plain' | 'primary' }) {
  const text = usePortalText()
  const [email, setEmail] = useState('')
  const [state, setState] = useState<'open' | 'busy' | 'sent'>('open')
  const [problem, setProblem] = useState<string | null>(null)
  const send = async (event: FormEvent) => {
    event.preventDefault()
    setState('busy')
    setProblem(null)
    try {
      await requestLink(email, brand.address)
      setState('sent')
    } catch (error) {
      setProblem(portalErrorMessage(error, text))
      setState('open')
    }
  }
  if (state === 'sent')
    return (
      <p role="status" className="rounded-md bg-ok-soft px-3 py-2 text-ok">
        {text.linkRequested}
      </p>
    )
  return (
    <form className="flex flex-col gap-3 border-t border-line pt-4" onSubmit={(event) => void send(event)}>
      <TextField
        label={text.emailLabel}
        type="email"
        autoComplete="email"
        required
        className="field h-11 text-base"
        value={email}
        onChange={setEmail}
      />
      {problem && <Alert>{problem}</Alert>}
      <Button type="submit" variant={variant} className={BUTTON} disabled={state === 'busy'}>
        {text.requestLink}
      </Button>
    </form>
  )
}

/** The page that the unsubscribe link of a mail opens. */
export function UnsubscribePage({ brand, token }: { brand: PortalBrand; token: string }) {
  const text = usePortalText()
  const [outcome, setOutcome] = useState<'done' | 'unknown' | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const stop = async () => {
    setProblem(null)
    try {
      const { found } = await unsubscribe(token)
      setOutcome(found ? 'done' : 'unknown')
    } catch (error) {
      setProblem(portalErrorMessage(error, text))
    }
  }
  return (
    <PortalCard brand={brand}>
      <h1 className="text-xl font-semibold">{text.unsubscribe}</h1>
      {outcome === 'unknown' ? (
        <Alert>{text.unsubscribeUnknown}</Alert>
      ) : (
        <p role="status" className="text-muted">
          {outcome === 'done' ? text.unsubscribed : text.unsubscribeHint}
        </p>
      )}
      {problem && <Alert>{problem}</Alert>}
      {outcome === null && (
        <Button variant="primary" className={BUTTON} onClick={() => void stop()}>
          {text.unsubscribe}
        </Button>
      )}
    </PortalCard>
  )
}
