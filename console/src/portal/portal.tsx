import { useEffect, useState } from 'react'
import { Button } from '../ui/button.tsx'
import { PortalFrame } from './frame.tsx'
import { ClientHome } from './client-home.tsx'
import { type PortalClient, currentClient, linkToken, openSession } from './portal-api.ts'

/** The customer's side: a link opens it, by a click; then its conversations. */
export function Portal() {
  const [client, setClient] = useState<PortalClient | null | 'asking'>('asking')
  const [link] = useState(linkToken)
  useEffect(() => {
    if (link) setClient(null)
    else void currentClient().then(setClient)
  }, [link])
  if (client === 'asking') return <PortalFrame> </PortalFrame>
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
      const used = error instanceof Error && error.message === 'expired'
      setProblem(
        used ? 'This link was used already or is too old. Ask for a new one.' : 'That did not work. Try again.',
      )
      setBusy(false)
    }
  }
  return (
    <PortalFrame>
      <h1 className="text-xl font-semibold">Welcome</h1>
      <p className="text-muted">This link signs you in on this device. It works once.</p>
      {problem && (
        <p role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-bad">
          {problem}
        </p>
      )}
      <Button variant="primary" className="h-11 text-base" disabled={busy} onClick={() => void open()}>
        Continue
      </Button>
    </PortalFrame>
  )
}

function SignedOut() {
  return (
    <PortalFrame>
      <h1 className="text-xl font-semibold">You are not signed in</h1>
      <p className="text-muted">Open the link that you were sent. If it no longer works, ask for a new one.</p>
    </PortalFrame>
  )
}
