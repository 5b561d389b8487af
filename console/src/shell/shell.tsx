import { useQuery } from '@tanstack/react-query'
import { Outlet, useNavigate } from '@tanstack/react-router'
import { Menu, Search } from 'lucide-react'
import { useEffect, useEffectEvent, useState } from 'react'
import { sessionQuery } from '../api/queries.ts'
import { Button, KeyCap } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { RoleProvider } from '../ui/role.tsx'
import { ToastList } from '../ui/toast.tsx'
import { ApprovalNotifier } from './approval-notifier.tsx'
import { CommandMenu } from './command-menu.tsx'
import { useShortcuts } from './shortcuts.ts'
import { ShortcutsDialog } from './shortcuts-dialog.tsx'
import { LiveUpdates } from './live-status.tsx'
import { Nav } from './nav.tsx'
import { useNavItems } from './nav-items.ts'

type OpenDialog = 'commands' | 'keys' | 'nav' | null

export function Shell() {
  const { data: session } = useQuery(sessionQuery)
  return (
    <RoleProvider value={session?.role ?? null}>
      <ShellFrame />
    </RoleProvider>
  )
}

/** Around every page: navigation, command menu, key sheet, the live stream and its notices. */
function ShellFrame() {
  const [open, setOpen] = useState<OpenDialog>(null)
  const close = () => setOpen(null)
  useCommandShortcut(() => setOpen('commands'))
  useNavShortcuts()
  useShortcuts({ '?': () => setOpen('keys'), '/': () => setOpen('commands') })
  return (
    <LiveUpdates>
      <a
        href="#main"
        className="sr-only z-50 rounded bg-surface p-2 focus:not-sr-only focus:fixed focus:top-2 focus:left-2"
      >
        Skip to content
      </a>
      <div className="min-h-dvh lg:grid lg:grid-cols-[13.5rem_1fr]">
        <aside className="sticky top-0 h-dvh border-r border-line bg-surface max-lg:hidden">
          <Nav onSearch={() => setOpen('commands')} onKeys={() => setOpen('keys')} />
        </aside>
        <TopBar onNav={() => setOpen('nav')} onSearch={() => setOpen('commands')} />
        <main id="main" tabIndex={-1} className="min-w-0 outline-none">
          <Outlet />
        </main>
      </div>
      {open === 'commands' && <CommandMenu onClose={close} />}
      {open === 'keys' && <ShortcutsDialog onClose={close} />}
      {open === 'nav' && (
        <Dialog label="Navigation" onClose={close} className="my-0 ml-0 h-dvh max-h-none max-w-64 rounded-none">
          <Nav onSearch={() => setOpen('commands')} onKeys={() => setOpen('keys')} onGone={close} />
        </Dialog>
      )}
      <ApprovalNotifier />
      <ToastList />
    </LiveUpdates>
  )
}

function TopBar({ onNav, onSearch }: { onNav: () => void; onSearch: () => void }) {
  return (
    <header className="sticky top-0 z-20 flex h-12 items-center gap-2 border-b border-line bg-surface px-2 lg:hidden">
      <Button variant="ghost" aria-label="Open navigation" onClick={onNav} icon={<Menu size={18} />} />
      <span className="font-semibold">Agent Work Service</span>
      <Button variant="ghost" className="ml-auto" onClick={onSearch} icon={<Search size={16} />}>
        <span className="sr-only">Search and commands</span>
        <KeyCap>Ctrl K</KeyCap>
      </Button>
    </header>
  )
}

function useCommandShortcut(open: () => void): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return
      event.preventDefault()
      if (!document.querySelector('dialog[open]')) open()
    }
    window.addEventListener('keydown', listen)
    return () => window.removeEventListener('keydown', listen)
  }, [open])
}

const SECOND_KEY_MS = 1_000

/** `g` and then the letter of a page. */
function useNavShortcuts(): void {
  const navigate = useNavigate()
  const sections = useNavItems()
  const sectionBy = useEffectEvent((letter: string) => sections.find(({ shortcut }) => shortcut === letter))
  const [waiting, setWaiting] = useState(false)
  useEffect(() => {
    if (!waiting) return undefined
    const timer = setTimeout(() => setWaiting(false), SECOND_KEY_MS)
    const listen = (event: KeyboardEvent) => {
      const section = sectionBy(event.key)
      setWaiting(false)
      if (!section) return
      // Before the page's own keys hear the same letter.
      event.stopImmediatePropagation()
      event.preventDefault()
      void navigate({ to: section.to })
    }
    window.addEventListener('keydown', listen, { capture: true })
    return () => {
      clearTimeout(timer)
      window.removeEventListener('keydown', listen, { capture: true })
    }
  }, [waiting, navigate])
  useShortcuts({ g: () => setWaiting(true) })
}
