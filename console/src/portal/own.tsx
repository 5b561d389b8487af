import { useCallback, useEffect, useState } from 'react'
import { Chat } from './chat.tsx'
import { Frame } from './frame.tsx'
import { type Case, type Client, cases, type Thread, threads } from './session.ts'

/** What is the client's own: conversations, one of them, and how their cases stand. */
export function Own({ client }: { client: Client }) {
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

function Overview({ client, onOpen }: { client: Client; onOpen: (id: string) => void }) {
  const [list, setList] = useState<Thread[] | null>(null)
  const [own, setOwn] = useState<Case[]>([])
  useEffect(() => {
    void threads().then(setList, () => setList([]))
    void cases().then(setOwn, () => {})
  }, [])
  return (
    <Frame>
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
    </Frame>
  )
}

function Cases({ cases }: { cases: Case[] }) {
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
