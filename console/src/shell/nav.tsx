import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { BookOpen, Keyboard, LogOut, Moon, Search, Sun, SunMoon } from 'lucide-react'
import { useReducer } from 'react'
import * as credential from '../api/credential.ts'
import { callApi } from '../api/http.ts'
import { approvalsQuery, sessionQuery, newestTasksQuery } from '../api/queries.ts'
import { Button, KeyCap } from '../ui/button.tsx'
import { CountBadge } from '../ui/tabs.tsx'
import { LiveIndicator } from './live-status.tsx'
import { type NavItem, useNavItems } from './nav-items.ts'
import { useTheme } from './theme.ts'

export function Nav({
  onSearch,
  onKeys,
  onGone = () => {},
}: {
  onSearch: () => void
  onKeys: () => void
  onGone?: () => void
}) {
  const sections = useNavItems()
  return (
    <div className="flex h-full flex-col gap-3 p-3">
      <ProjectSelect />
      <Button className="justify-start text-muted" onClick={onSearch} icon={<Search size={14} />}>
        Search
        <span className="ml-auto">
          <KeyCap>Ctrl K</KeyCap>
        </span>
      </Button>
      <nav aria-label="Main" className="flex flex-col gap-0.5 overflow-y-auto">
        {sections.map((section) => (
          <NavLink key={section.to} section={section} onGone={onGone} />
        ))}
      </nav>
      <NavFooter onKeys={onKeys} />
    </div>
  )
}

function NavLink({ section, onGone }: { section: NavItem; onGone: () => void }) {
  const Icon = section.icon
  const count = useCount(section.counter)
  return (
    <Link
      to={section.to}
      onClick={onGone}
      activeOptions={{ exact: section.to === '/' }}
      className={`flex h-8 shrink-0 items-center gap-2 rounded-md px-2 text-muted -outline-offset-2 hover:bg-hover hover:text-text [&[aria-current]]:bg-accent-soft [&[aria-current]]:font-medium [&[aria-current]]:text-accent ${section.startsGroup ? 'mt-3' : ''}`}
    >
      <Icon size={16} aria-hidden />
      {section.label}
      {count > 0 && (
        <span className="ml-auto">
          <CountBadge value={count} max={200} urgent={section.counter === 'approvals'} />
        </span>
      )}
    </Link>
  )
}

function useCount(counts: NavItem['counter']): number {
  const approvals = useQuery({ ...approvalsQuery('pending'), enabled: counts === 'approvals' })
  const running = useQuery({ ...newestTasksQuery({ status: 'running' }, 200), enabled: counts === 'working' })
  const queued = useQuery({ ...newestTasksQuery({ status: 'queued' }, 200), enabled: counts === 'working' })
  if (counts === 'approvals') return approvals.data?.length ?? 0
  return counts === 'working' ? (running.data?.length ?? 0) + (queued.data?.length ?? 0) : 0
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
    // Everything that is shown belongs to the other project, except who is signed in and what they may do.
    void queries.resetQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionQuery.queryKey[0] })
  }
  return (
    <div className="flex h-10 flex-col justify-center px-2">
      <span className="truncate font-semibold">{session?.organisation.name ?? ' '}</span>
      {projects.length > 1 ? (
        <select
          aria-label="Project"
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
        <span className="truncate text-xs text-muted">{current ? `project ${current.name}` : ' '}</span>
      )}
    </div>
  )
}

function NavFooter({ onKeys }: { onKeys: () => void }) {
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
        {session?.member?.email ?? session?.key?.name ?? ' '} {session && `· ${session.role}`}
      </p>
      <div className="flex gap-1">
        <Button small variant="ghost" aria-label={`Theme: ${theme}`} onClick={nextTheme} icon={<Icon size={15} />} />
        <Button small variant="ghost" aria-label="Keyboard shortcuts" onClick={onKeys} icon={<Keyboard size={15} />} />
        <a
          href="/docs"
          aria-label="API reference"
          className="inline-flex h-7 items-center rounded-md px-2 text-muted hover:bg-hover hover:text-text"
        >
          <BookOpen size={15} />
        </a>
        <Button
          small
          variant="ghost"
          className="ml-auto"
          onClick={() => void signOut()}
          aria-label="Sign out"
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
    // A key is not a session: it is only forgotten here.
    if (credential.getToken()?.startsWith('svc_fst_'))
      await callApi('/v1/auth/logout', { method: 'POST' }).catch(() => {})
    credential.clearToken()
    credential.setProject(null)
    queries.clear()
    await navigate({ to: '/sign-in' })
  }
}
