import { useEffect, useState } from 'react'
import { Button } from '../ui/button.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Checkbox } from '../ui/form-fields.tsx'
import { portalErrorMessage } from './error-message.ts'
import { Alert } from './frame.tsx'
import { usePortalText } from './language.tsx'
import {
  createDeviceLink,
  listConnections,
  type PortalClient,
  type PortalConnection,
  setNotices,
  signOut,
  startConnection,
} from './portal-api.ts'

/** Mails, devices and connected accounts of the client, and signing out. */
export function AccountDialog({
  client,
  onClose,
  onSignedOut,
}: {
  client: PortalClient
  onClose: () => void
  onSignedOut: () => void
}) {
  const text = usePortalText()
  const [problem, setProblem] = useState<string | null>(null)
  const attempt = (work: () => Promise<unknown>) => {
    setProblem(null)
    work().catch((error: unknown) => setProblem(portalErrorMessage(error, text)))
  }
  const leave = (everywhere: boolean) => attempt(() => signOut(everywhere).then(onSignedOut))
  return (
    <Dialog label={text.account} onClose={onClose} className="max-w-md">
      <div className="flex flex-col gap-5 p-5 text-[0.9375rem]">
        <div>
          <h2 className="text-lg font-semibold">{client.display_name ?? text.account}</h2>
          <p className="break-words text-muted">{client.handles.join(', ')}</p>
        </div>
        {problem && <Alert>{problem}</Alert>}
        {client.notices !== null && <NoticeSwitch initial={client.notices} attempt={attempt} />}
        <Connections attempt={attempt} />
        <DeviceLink attempt={attempt} />
        <div className="flex flex-wrap gap-2 border-t border-line pt-4">
          <Button className="h-11" onClick={() => leave(false)}>
            {text.signOut}
          </Button>
          <Button className="h-11" variant="ghost" onClick={() => leave(true)}>
            {text.signOutEverywhere}
          </Button>
          <Button className="ml-auto h-11" variant="ghost" onClick={onClose}>
            {text.close}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}

type Attempt = (work: () => Promise<unknown>) => void

function NoticeSwitch({ initial, attempt }: { initial: boolean; attempt: Attempt }) {
  const text = usePortalText()
  const [enabled, setEnabled] = useState(initial)
  return (
    <Checkbox
      label={text.notices}
      checked={enabled}
      onChange={(wanted) => {
        setEnabled(wanted)
        attempt(() =>
          setNotices(wanted).catch((error: unknown) => {
            setEnabled(!wanted)
            throw error
          }),
        )
      }}
    />
  )
}

function DeviceLink({ attempt }: { attempt: Attempt }) {
  const text = usePortalText()
  const [url, setUrl] = useState<string | null>(null)
  if (url === null)
    return (
      <Button
        className="h-11 self-start"
        onClick={() => attempt(() => createDeviceLink().then((link) => setUrl(link.url)))}
      >
        {text.otherDevice}
      </Button>
    )
  return (
    <section aria-label={text.otherDevice} className="flex flex-col gap-2">
      <p className="text-muted">{text.otherDeviceHint}</p>
      <code className="rounded-md bg-sunken p-3 font-mono text-xs break-all select-all">{url}</code>
      <span className="self-start">
        <CopyButton text={() => url} label={text.copy} copiedLabel={text.copied} />
      </span>
    </section>
  )
}

/** The client's own accounts at other services, which it connects by OAuth. */
function Connections({ attempt }: { attempt: Attempt }) {
  const text = usePortalText()
  const [connections, setConnections] = useState<PortalConnection[]>([])
  useEffect(() => {
    void listConnections().then(setConnections, () => {})
  }, [])
  if (connections.length === 0) return null
  const connect = (id: string) =>
    attempt(() => startConnection(id).then(({ authorize_url }) => location.assign(authorize_url)))
  return (
    <section className="flex flex-col gap-2">
      <h3 className="font-semibold">{text.connections}</h3>
      <ul className="panel divide-y divide-line">
        {connections.map(({ id, name, status }) => (
          <li key={id} className="flex min-h-12 items-center gap-3 px-3">
            <span className="min-w-0 flex-1 truncate">{name}</span>
            {status === 'connected' ? (
              <span className="text-ok">{text.connected}</span>
            ) : (
              <Button onClick={() => connect(id)}>{text.connect}</Button>
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}
