import { useCallback, useEffect, useState } from 'react'
import { Chat } from './chat.tsx'
import { PortalFrame } from './frame.tsx'
import { type PortalCase, type PortalClient, listCases, type PortalThread, listThreads } from './portal-api.ts'

/** What is the client's own: conversations, one of them, and how their cases stand. */
export function ClientHome({ client }: { client: PortalClient }) {
  const [open, go] = useOpenThread()
  return open ? <Chat key={open} id={open} onBack={() => go(null)} /> : <Overview client={client} onOpen={go} />
}

/** The open conversation stands in the address, so that the way back and a reload work. */
function useOpenThread(): [string | null, (id: string | null) => void] {
  const [id, setId] = useState(idInAddress)
  useEffect(() => {
    const listen = () => setId(idInAddress())
    window.addEventListener('popstate', listen)
    return () => window.removeEventListener('popstate', listen)
  }, [])
  const go = useCallback((to: string | null) => {
    history.pushState(null, '', to ? `/portal?thread=${encodeURIComponent(to)}` : '/portal')
    setId(to)
  }, [])
  return [id, go]
}

const idInAddress = () => new URLSearchParams(location.search).get('thread')

function Overview({ client, onOpen }: { client: PortalClient; onOpen: (id: string) => void }) {
  const [list, setList] = useState<PortalThread[] | null>(null)
  const [own, setOwn] = useState<PortalCase[]>([])
  useEffect(() => {
    void listThreads().then(setList, () => setList([]))
    void listCases().then(setOwn, () => {})
  }, [])
  return (
    <PortalFrame>
      <h1 className="text-xl font-semibold">
        You are signed in{client.display_name ? ` as ${client.display_name}` : ''}
      </h1>
      {list?.length === 0 && <p className="text-muted">There is no conversation yet.</p>}
      <ul aria-label="Conversations" className="flex flex-col gap-2">
        {list?.map(({ id, subject, status, updated_at }) => (
          <li key={id}>
            <button
              type="button"
              onClick={() => onOpen(id)}
              className="panel flex min-h-12 w-full items-center gap-3 px-4 py-3 text-left hover:bg-hover"
            >
              <span className="font-medium">{subject || 'Conversation'}</span>
              <span className="ml-auto text-xs whitespace-nowrap text-muted">
                {status} · {new Date(updated_at).toLocaleDateString()}
              </span>
            </button>
          </li>
        ))}
      </ul>
      {own.length > 0 && <Cases cases={own} />}
    </PortalFrame>
  )
}

function Cases({ cases }: { cases: PortalCase[] }) {
  return (
    <section className="flex flex-col gap-2">
      <h2 className="font-semibold">Your cases</h2>
      <ul className="panel divide-y divide-line">
        {cases.map(({ id, title, stage, status, updated_at }) => (
          <li key={id} className="flex items-center gap-3 px-4 py-3">
            <span className="font-medium">{title || 'Case'}</span>
            <span className="rounded bg-off-soft px-1.5 text-xs text-muted">
              {status === 'closed' ? 'closed' : stage.replaceAll('_', ' ')}
            </span>
            <span className="ml-auto text-xs whitespace-nowrap text-muted">
              {new Date(updated_at).toLocaleDateString()}
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}
