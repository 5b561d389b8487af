import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi, Link, Outlet, useNavigate, useParams } from '@tanstack/react-router'
import { useDeferredValue } from 'react'
import { conversationsQuery, type ThreadSummary } from '../../api/conversation-queries.ts'
import { CONVERSATION_FILTERS, type ConversationFilter } from '../../search-params.ts'
import { useShortcuts } from '../../shell/shortcuts.ts'
import { QueryResult } from '../../ui/query-result.tsx'
import { ShowMore } from '../../ui/show-more.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { ConversationList } from './conversation-list.tsx'
import { conversationsText } from './text.ts'

const route = getRouteApi('/shell/conversations')

/** The shared inbox: the list of conversations beside the open one. On a phone one of the two is shown. */
export function ConversationsPage() {
  const { filter = 'open', q = '' } = route.useSearch()
  const navigate = useNavigate()
  const { threadId } = useParams({ strict: false })
  const search = useDeferredValue(q)
  const query = useInfiniteQuery(conversationsQuery(filter, search))
  const threads = query.data ?? []
  const index = threads.findIndex(({ id }) => id === threadId)
  const open = (thread: ThreadSummary | undefined) =>
    thread &&
    void navigate({
      to: '/conversations/$threadId',
      params: { threadId: thread.id },
      search: { ...(filter !== 'open' && { filter }), ...(q && { q }) },
    })
  useShortcuts({
    j: () => open(threads[index + 1]),
    k: () => open(threads[Math.max(0, index - 1)]),
  })
  return (
    <div className="flex h-[calc(100dvh-3rem)] lg:h-dvh">
      <section
        aria-label={conversationsText.list}
        className={`flex w-full flex-col border-line bg-surface lg:w-92 lg:shrink-0 lg:border-r ${threadId ? 'max-lg:hidden' : ''}`}
      >
        <header className="flex flex-col gap-2 border-b border-line p-3">
          {/* On a phone with an open conversation, the conversation has the heading of the page. */}
          <h1 className="text-lg font-semibold tracking-tight">{conversationsText.title}</h1>
          <FilterBar filter={filter} q={q} />
        </header>
        <div className="min-h-0 grow overflow-y-auto">
          <QueryResult query={query}>
            {(list) => (
              <>
                <ConversationList threads={list} openId={threadId} />
                {list.length === 0 && <NoConversations isFiltered={filter !== 'open' || q !== ''} />}
              </>
            )}
          </QueryResult>
          <ShowMore query={query} />
        </div>
      </section>
      <div className={`min-w-0 grow ${threadId ? '' : 'max-lg:hidden'}`}>
        <Outlet />
      </div>
    </div>
  )
}

function FilterBar({ filter, q }: { filter: ConversationFilter; q: string }) {
  const navigate = route.useNavigate()
  return (
    <>
      <input
        type="search"
        aria-label={conversationsText.search}
        placeholder={conversationsText.search}
        className="field h-8"
        value={q}
        onChange={({ target: { value } }) =>
          void navigate({ search: (old) => ({ ...withoutQ(old), ...(value && { q: value }) }), replace: true })
        }
      />
      <Tabs
        label={conversationsText.filterLabel}
        value={filter}
        onChange={(to) => void navigate({ search: to === 'open' ? {} : { filter: to } })}
        tabs={CONVERSATION_FILTERS.map((value) => ({ value, label: conversationsText.filters[value] }))}
      />
    </>
  )
}

const withoutQ = ({ filter }: { filter?: ConversationFilter; q?: string }) => (filter ? { filter } : {})

function NoConversations({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return <p className="p-4 text-center text-muted">{conversationsText.noMatch}</p>
  return (
    <div className="flex flex-col gap-2 p-6 text-center">
      <h2 className="font-semibold">{conversationsText.none}</h2>
      <p className="text-muted">{conversationsText.noneHint}</p>
      <Link to="/channels" className="text-accent underline">
        {conversationsText.viewChannels}
      </Link>
    </div>
  )
}

/** Shown beside the list while no conversation is open. */
export function NoConversationOpen() {
  return (
    <div className="flex h-full flex-col items-center justify-center gap-1 text-center">
      <h2 className="text-base font-semibold">{conversationsText.choose}</h2>
      <p className="text-muted">{conversationsText.chooseHint}</p>
    </div>
  )
}
