import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { BookOpen, Keyboard, LogOut, Moon, Search, Sun, SunMoon } from 'lucide-react'
import { useReducer } from 'react'
import * as credential from '../api/credential.ts'
import { callOperation } from '../api/http.ts'
import { unreadCountQuery } from '../api/conversation-queries.ts'
import { newestTasksQuery, sessionQuery, waitsForTeamQuery } from '../api/queries.ts'
import { forgetKeptTexts } from '../pages/approvals/kept-texts.ts'
import { Button, KeyCap } from '../ui/button.tsx'
import { CountBadge } from '../ui/tabs.tsx'
import { uiText } from '../ui/text.ts'
import { forgetUnsent } from '../ui/unsent-text.ts'
import { LiveIndicator, startLiveUpdates } from './live-status.tsx'
import { type NavItem, useNavItems } from './nav-items.ts'
import { setSessionEnd } from './session-end.ts'
import { shellText } from './text.ts'
import { useTheme } from './theme.ts'

export function Nav({
  onSearch,
  onShortcuts,
  onNavigate = () => {},
}: {
  onSearch: () => void
  onShortcuts: () => void
  onNavigate?: () => void
}) {
  const navItems = useNavItems()
  return (
    <div className="flex h-full flex-col gap-3 p-3">
      <ProjectSelect />
      <Button className="justify-start text-muted" onClick={onSearch} icon={<Search size={14} />}>
        {shellText.search}
        <span className="ml-auto">
          <KeyCap>{shellText.searchShortcut}</KeyCap>
        </span>
      </Button>
      <nav aria-label={shellText.mainNavigation} className="flex flex-col gap-0.5 overflow-y-auto">
        {navItems.map((item) => (
          <NavLink key={item.to} item={item} onNavigate={onNavigate} />
        ))}
      </nav>
      <NavFooter onShortcuts={onShortcuts} />
    </div>
  )
}

function NavLink({ item, onNavigate }: { item: NavItem; onNavigate: () => void }) {
  const Icon = item.icon
  const count = useItemCount(item.counter)
  return (
    <Link
      to={item.to}
      onClick={onNavigate}
      activeOptions={{ exact: item.to === '/' }}
      className={`flex h-8 shrink-0 items-center gap-2 rounded-md px-2 text-muted -outline-offset-2 hover:bg-hover hover:text-text [&[aria-current]]:bg-accent-soft [&[aria-current]]:font-medium [&[aria-current]]:text-accent ${item.startsGroup ? 'mt-3' : ''}`}
    >
      <Icon size={16} aria-hidden />
      {item.label}
      {count > 0 && (
        <span className="ml-auto">
          <CountBadge
            value={count}
            {...(item.counter === 'activeTasks' && { max: 200 })}
            urgent={item.counter === 'approvals' || item.counter === 'conversations'}
          />
        </span>
      )}
    </Link>
  )
}

function useItemCount(counter: NavItem['counter']): number {
  const approvals = useQuery({ ...waitsForTeamQuery, enabled: counter === 'approvals' })
  const unread = useQuery({ ...unreadCountQuery, enabled: counter === 'conversations' })
  const running = useQuery({ ...newestTasksQuery({ status: 'running' }, 200), enabled: counter === 'activeTasks' })
  const queued = useQuery({ ...newestTasksQuery({ status: 'queued' }, 200), enabled: counter === 'activeTasks' })
  if (counter === 'approvals') return approvals.data ?? 0
  if (counter === 'conversations') return unread.data ?? 0
  return counter === 'activeTasks' ? (running.data?.length ?? 0) + (queued.data?.length ?? 0) : 0
}

function ProjectSelect() {
  const queries = useQueryClient()
  const { data: session } = useQuery(sessionQuery)
  const projects = session?.projects ?? []
  const [, redraw] = useReducer((times: number) => times + 1, 0)
  const current = projects.find(({ id }) => id === credential.getProject()) ?? projects[0]
  const change = (id: string) => {
    credential.setProject(id)
    redraw()
    // All data but the session belongs to the other project.
    void queries.resetQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionQuery.queryKey[0] })
    void startLiveUpdates(queries)
  }
  return (
    <div className="flex h-10 flex-col justify-center px-2">
      <span className="truncate font-semibold">{session?.organisation.name ?? ' '}</span>
      {projects.length > 1 ? (
        <select
          aria-label={shellText.project}
          className="-ml-1 bg-transparent text-xs text-muted"
          value={current?.id}
          onChange={(event) => change(event.target.value)}
        >
          {projects.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      ) : (
        <span className="truncate text-xs text-muted">{current ? shellText.projectName(current.name) : ' '}</span>
      )}
    </div>
  )
}

function NavFooter({ onShortcuts }: { onShortcuts: () => void }) {
  const [theme, nextTheme] = useTheme()
  const signOut = useSignOut()
  const { data: session } = useQuery(sessionQuery)
  const Icon = theme === 'dark' ? Moon : theme === 'light' ? Sun : SunMoon
  return (
    <div className="mt-auto flex flex-col gap-2 border-t border-line pt-3">
      <div className="px-2">
        <LiveIndicator />
      </div>
      <p className="truncate px-2 text-xs text-muted">
        {session?.member?.email ?? session?.key?.name ?? ' '} {session && `· ${uiText.role[session.role]}`}
      </p>
      <div className="flex gap-1">
        <Button
          small
          variant="ghost"
          aria-label={shellText.theme(theme)}
          onClick={nextTheme}
          icon={<Icon size={15} />}
        />
        <Button
          small
          variant="ghost"
          aria-label={shellText.shortcuts.title}
          onClick={onShortcuts}
          icon={<Keyboard size={15} />}
        />
        <a
          href="/docs"
          aria-label={shellText.apiReference}
          className="inline-flex h-7 items-center rounded-md px-2 text-muted hover:bg-hover hover:text-text"
        >
          <BookOpen size={15} />
        </a>
        <Button
          small
          variant="ghost"
          className="ml-auto"
          onClick={() => void signOut()}
          aria-label={shellText.signOut}
          icon={<LogOut size={15} />}
        />
      </div>
    </div>
  )
}

export function useSignOut(): () => Promise<void> {
  const queries = useQueryClient()
  const navigate = useNavigate()
  return async () => {
    // An API key is not a session, so signing out only removes it from the browser.
    if (credential.getToken()?.startsWith('svc_fst_')) await callOperation('signOut').catch(() => {})
    credential.clearToken()
    credential.setProject(null)
    setSessionEnd(null)
    queries.clear()
    forgetUnsent()
    forgetKeptTexts()
    await navigate({ to: '/sign-in' })
  }
}
