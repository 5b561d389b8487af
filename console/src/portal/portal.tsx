import { useEffect, useState } from 'react'
import { Button } from '../ui/button.tsx'
import { PortalFrame } from './frame.tsx'
import { ClientHome } from './client-home.tsx'
import { type PortalClient, currentClient, linkToken, openSession, SESSION_EXPIRED } from './portal-api.ts'
import { portalText } from './text.ts'

/** The client portal: a sign-in link, then the client's conversations. */
export function Portal() {
  const [client, setClient] = useState<PortalClient | null | 'loading'>('loading')
  const [link] = useState(linkToken)
  useEffect(() => {
    if (link) setClient(null)
    else void currentClient().then(setClient)
  }, [link])
  if (client === 'loading') return <PortalFrame> </PortalFrame>
  if (client) return <ClientHome client={client} />
  return link ? <LinkLanding link={link} onOpen={setClient} /> : <SignedOut />
}

function LinkLanding({ link, onOpen }: { link: string; onOpen: (client: PortalClient) => void }) {
  const [problem, setProblem] = useState<string | null>(null)
  const [busy, setBusy] = useState(false)
  const open = async () => {
    setBusy(true)
    try {
      onOpen(await openSession(link))
    } catch (error) {
      const isExpired = error instanceof Error && error.message === SESSION_EXPIRED
      setProblem(isExpired ? portalText.linkExpired : portalText.tryAgain)
      setBusy(false)
    }
  }
  return (
    <PortalFrame>
      <h1 className="text-xl font-semibold">{portalText.welcome}</h1>
      <p className="text-muted">{portalText.linkHint}</p>
      {problem && (
        <p role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-bad">
          {problem}
        </p>
      )}
      <Button variant="primary" className="h-11 text-base" disabled={busy} onClick={() => void open()}>
        {portalText.continue}
      </Button>
    </PortalFrame>
  )
}

function SignedOut() {
  return (
    <PortalFrame>
      <h1 className="text-xl font-semibold">{portalText.signedOut}</h1>
      <p className="text-muted">{portalText.signedOutHint}</p>
    </PortalFrame>
  )
}
