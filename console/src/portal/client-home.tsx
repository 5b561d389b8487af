import { useCallback, useEffect, useState } from 'react'
import { formatDate, formatDateTime } from '../ui/format.ts'
import { humanize } from '../ui/humanize.ts'
import { Chat } from './chat.tsx'
import { PortalFrame } from './frame.tsx'
import {
  type PortalCase,
  type PortalClient,
  listCases,
  listQuestions,
  type PortalQuestion,
  type PortalThread,
  listThreads,
} from './portal-api.ts'
import { QuestionCard } from './question-card.tsx'
import { portalText } from './text.ts'

/** The client's conversations and cases, or one open conversation. */
export function ClientHome({ client }: { client: PortalClient }) {
  const [openThread, setOpenThread] = useOpenThread()
  return openThread ? (
    <Chat key={openThread} id={openThread} onBack={() => setOpenThread(null)} />
  ) : (
    <Overview client={client} onOpen={setOpenThread} />
  )
}

/** The open conversation is in the URL, so that the back button and a reload work. */
function useOpenThread(): [string | null, (id: string | null) => void] {
  const [id, setId] = useState(threadInUrl)
  useEffect(() => {
    const listen = () => setId(threadInUrl())
    window.addEventListener('popstate', listen)
    return () => window.removeEventListener('popstate', listen)
  }, [])
  const open = useCallback((to: string | null) => {
    history.pushState(null, '', to ? `/portal?thread=${encodeURIComponent(to)}` : '/portal')
    setId(to)
  }, [])
  return [id, open]
}

const threadInUrl = () => new URLSearchParams(location.search).get('thread')

function Overview({ client, onOpen }: { client: PortalClient; onOpen: (id: string) => void }) {
  const [list, setList] = useState<PortalThread[] | null>(null)
  const [cases, setCases] = useState<PortalCase[]>([])
  const [questions, setQuestions] = useState<PortalQuestion[]>([])
  const loadQuestions = useCallback(() => void listQuestions().then(setQuestions, () => {}), [])
  useEffect(() => {
    void listThreads().then(setList, () => setList([]))
    void listCases().then(setCases, () => {})
    loadQuestions()
  }, [loadQuestions])
  return (
    <PortalFrame>
      <h1 className="text-xl font-semibold">{portalText.greeting(client.display_name)}</h1>
      <Questions questions={questions} onDecided={loadQuestions} />
      {list?.length === 0 && <p className="text-muted">{portalText.noConversations}</p>}
      <ul aria-label={portalText.conversations} className="flex flex-col gap-2">
        {list?.map(({ id, subject, status, updated_at }) => (
          <li key={id}>
            <button
              type="button"
              onClick={() => onOpen(id)}
              className="panel flex min-h-12 w-full items-center gap-3 px-4 py-3 text-left hover:bg-hover"
            >
              <span className="font-medium">{subject || portalText.conversation}</span>
              <span className="ml-auto text-xs whitespace-nowrap text-muted">
                {portalText.status[status] ?? status} · <DateLabel ts={updated_at} />
              </span>
            </button>
          </li>
        ))}
      </ul>
      {cases.length > 0 && <Cases cases={cases} />}
    </PortalFrame>
  )
}

function Questions({ questions, onDecided }: { questions: PortalQuestion[]; onDecided: () => void }) {
  if (questions.length === 0) return null
  return (
    <section aria-label={portalText.questions} className="flex flex-col gap-2">
      {questions.map((question) => (
        <QuestionCard key={question.id} question={question} onDecided={onDecided} />
      ))}
    </section>
  )
}

function Cases({ cases }: { cases: PortalCase[] }) {
  return (
    <section className="flex flex-col gap-2">
      <h2 className="font-semibold">{portalText.cases}</h2>
      <ul className="panel divide-y divide-line">
        {cases.map(({ id, title, stage, status, updated_at }) => (
          <li key={id} className="flex items-center gap-3 px-4 py-3">
            <span className="font-medium">{title || portalText.case}</span>
            <span className="rounded bg-off-soft px-1.5 text-xs text-muted">
              {status === 'closed' ? portalText.status['closed'] : humanize(stage)}
            </span>
            <span className="ml-auto text-xs whitespace-nowrap text-muted">
              <DateLabel ts={updated_at} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

function DateLabel({ ts }: { ts: string }) {
  return (
    <time dateTime={ts} title={formatDateTime(ts)}>
      {formatDate(ts)}
    </time>
  )
}
