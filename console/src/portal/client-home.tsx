import { CircleUser, Plus } from 'lucide-react'
import { useCallback, useEffect, useState } from 'react'
import { Button } from '../ui/button.tsx'
import { AccountDialog } from './account-dialog.tsx'
import { ApprovalCard } from './approval-card.tsx'
import { Chat } from './chat.tsx'
import { type Drafts, DraftsProvider } from './drafts.ts'
import { BrandMark } from './frame.tsx'
import { usePortalText } from './language.tsx'
import { NewConversation } from './new-conversation.tsx'
import {
  listApprovals,
  listCases,
  listQuestions,
  listThreads,
  type PortalApproval,
  type PortalBrand,
  type PortalCase,
  type PortalClient,
  type PortalQuestion,
  type PortalThread,
} from './portal-api.ts'
import { portalPath } from './portal-path.ts'
import { QuestionCard } from './question-card.tsx'
import { CaseList, ThreadList } from './thread-list.tsx'

interface HomeProps {
  client: PortalClient
  brand: PortalBrand
  onSignedOut: () => void
}

/** The conversations beside the open one; on a phone one of both. */
export function ClientHome({ client, brand, onSignedOut }: HomeProps) {
  const [view, setView] = useView(brand)
  const overview = useOverview()
  const [isAccountOpen, setIsAccountOpen] = useState(false)
  const [drafts] = useState((): Drafts => new Map())
  const close = () => setView({ thread: null, isNew: false })
  const open = (thread: string) => setView({ thread, isNew: false })
  const isOverview = view.thread === null && !view.isNew
  return (
    <div className="mx-auto flex h-dvh w-full max-w-6xl flex-col text-[0.9375rem] md:p-4">
      <Header brand={brand} onAccount={() => setIsAccountOpen(true)} />
      {isAccountOpen && (
        <AccountDialog client={client} onClose={() => setIsAccountOpen(false)} onSignedOut={onSignedOut} />
      )}
      <main className="flex min-h-0 flex-1 md:gap-4">
        <div
          className={`flex min-h-0 flex-col gap-4 overflow-y-auto p-4 max-md:flex-1 md:w-80 md:shrink-0 md:p-0 ${isOverview ? '' : 'max-md:hidden'}`}
        >
          <Overview
            client={client}
            overview={overview}
            openId={view.thread}
            onOpen={open}
            onNew={() => setView({ thread: null, isNew: true })}
          />
        </div>
        <div
          className={`panel flex min-h-0 min-w-0 flex-1 max-md:rounded-none max-md:border-0 ${isOverview ? 'max-md:hidden' : ''}`}
        >
          <DraftsProvider value={drafts}>
            {view.thread ? (
              <Chat
                key={view.thread}
                id={view.thread}
                brandName={brand.name}
                maxFileBytes={client.max_file_bytes}
                onBack={close}
                onChanged={overview.reload}
              />
            ) : view.isNew ? (
              <NewConversation
                maxFileBytes={client.max_file_bytes}
                onBack={close}
                onStarted={(id) => (overview.reload(), open(id))}
              />
            ) : (
              <Welcome brand={brand} canStart={client.can_start_conversation} />
            )}
          </DraftsProvider>
        </div>
      </main>
    </div>
  )
}

function Header({ brand, onAccount }: { brand: PortalBrand; onAccount: () => void }) {
  const text = usePortalText()
  return (
    <header className="flex items-center gap-3 border-b border-line px-4 py-3 md:mb-4 md:px-0">
      <BrandMark brand={brand} />
      <Button variant="ghost" className="ml-auto h-11" icon={<CircleUser size={18} aria-hidden />} onClick={onAccount}>
        {text.account}
      </Button>
    </header>
  )
}

function Overview({
  client,
  overview: { threads, cases, questions, approvals, reload },
  openId,
  onOpen,
  onNew,
}: {
  client: PortalClient
  overview: OverviewData
  openId: string | null
  onOpen: (id: string) => void
  onNew: () => void
}) {
  const text = usePortalText()
  const firstName = client.display_name?.split(' ')[0] ?? null
  // What the open conversation asks is shown there.
  const isElsewhere = ({ thread_id }: { thread_id: string | null }) => thread_id === null || thread_id !== openId
  const shownQuestions = questions.filter(isElsewhere)
  const shownApprovals = approvals.filter(isElsewhere)
  return (
    <>
      <div className="flex flex-wrap items-center gap-2 px-3 pt-1">
        <h1 className="text-lg font-semibold">{text.greeting(firstName)}</h1>
        {client.can_start_conversation && (
          <Button variant="primary" className="ml-auto h-9" icon={<Plus size={16} aria-hidden />} onClick={onNew}>
            {text.newConversation}
          </Button>
        )}
      </div>
      {shownQuestions.length > 0 && (
        <section aria-label={text.questions} className="flex flex-col gap-2">
          {shownQuestions.map((question) => (
            <QuestionCard key={question.id} question={question} onDecided={reload} />
          ))}
        </section>
      )}
      {shownApprovals.length > 0 && (
        <section aria-label={text.approvals} className="flex flex-col gap-2">
          {shownApprovals.map((approval) => (
            <ApprovalCard key={approval.id} approval={approval} onDecided={reload} />
          ))}
        </section>
      )}
      {threads && <ThreadList threads={threads} openId={openId} onOpen={onOpen} />}
      <CaseList cases={cases} />
    </>
  )
}

/** Shown beside the list as long as no conversation is open. */
function Welcome({ brand, canStart }: { brand: PortalBrand; canStart: boolean }) {
  const text = usePortalText()
  return (
    <div className="m-auto flex max-w-md flex-col gap-3 p-8 text-center">
      {brand.welcome && <p className="text-lg whitespace-pre-wrap">{brand.welcome}</p>}
      <p className="text-muted">{canStart ? text.chooseConversation : text.chooseConversationOnly}</p>
    </div>
  )
}

interface OverviewData {
  /** Null until they are loaded. */
  threads: PortalThread[] | null
  cases: PortalCase[]
  questions: PortalQuestion[]
  /** Those that wait, and those that were decided while they were shown. */
  approvals: PortalApproval[]
  reload: () => void
}

const POLL_MS = 10_000

function useOverview(): OverviewData {
  const [threads, setThreads] = useState<PortalThread[] | null>(null)
  const [cases, setCases] = useState<PortalCase[]>([])
  const [questions, setQuestions] = useState<PortalQuestion[]>([])
  const [approvals, reloadApprovals] = useApprovals()
  const reload = useCallback(() => {
    reloadApprovals()
    void listThreads().then(setThreads, () => {})
    void listQuestions().then(setQuestions, () => {})
  }, [reloadApprovals])
  useEffect(() => {
    reload()
    void listCases().then(setCases, () => {})
    const poll = () => {
      if (document.hidden) return
      reloadApprovals()
      void listThreads().then(setThreads, () => {})
      // A question that is on the screen stays, because the client may be writing the answer.
      void listQuestions().then(
        (found) =>
          setQuestions((shown) => [...shown, ...found.filter(({ id }) => !shown.some((one) => one.id === id))]),
        () => {},
      )
    }
    const timer = setInterval(poll, POLL_MS)
    return () => clearInterval(timer)
  }, [reload, reloadApprovals])
  return { threads, cases, questions, approvals, reload }
}

/** The outcome of an approval that is on the screen stays there. */
function useApprovals(): [PortalApproval[], () => void] {
  const [approvals, setApprovals] = useState<PortalApproval[]>([])
  const reload = useCallback(() => {
    void listApprovals().then(
      (found) =>
        setApprovals((shown) =>
          found.filter(({ id, status }) => status === 'pending' || shown.some((one) => one.id === id)),
        ),
      () => {},
    )
  }, [])
  return [approvals, reload]
}

interface View {
  thread: string | null
  isNew: boolean
}

/** What is open is in the URL, so that the back button and a reload work. */
function useView(brand: PortalBrand): [View, (view: View) => void] {
  const [view, setView] = useState(viewInUrl)
  useEffect(() => {
    const listen = () => setView(viewInUrl())
    window.addEventListener('popstate', listen)
    return () => window.removeEventListener('popstate', listen)
  }, [])
  const open = useCallback(
    (to: View) => {
      const search = { ...(to.thread && { thread: to.thread }), ...(to.isNew && { new: '1' }) }
      history.pushState(null, '', portalPath(brand, search))
      setView(to)
    },
    [brand],
  )
  return [view, open]
}

function viewInUrl(): View {
  const search = new URLSearchParams(location.search)
  return { thread: search.get('thread'), isNew: search.has('new') }
}
