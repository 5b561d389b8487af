import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Outlet, useNavigate } from '@tanstack/react-router'
import { Menu, Search } from 'lucide-react'
import { useEffect, useEffectEvent, useState } from 'react'
import { sessionQuery } from '../api/queries.ts'
import { Button, KeyCap } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { HeldDecisionList } from '../pages/approvals/held-decision-list.tsx'
import { KeptTextList } from '../pages/approvals/kept-text-list.tsx'
import { RoleProvider } from '../ui/role.tsx'
import { ToastList } from '../ui/toast.tsx'
import { ApprovalNotifier } from './approval-notifier.tsx'
import { CommandMenu } from './command-menu.tsx'
import { useShortcuts } from './shortcuts.ts'
import { ShortcutsDialog } from './shortcuts-dialog.tsx'
import { startLiveUpdates, stopLiveUpdates } from './live-status.tsx'
import { Nav } from './nav.tsx'
import { useNavItems } from './nav-items.ts'
import { SessionEndedDialog } from './session-ended-dialog.tsx'
import { shellText } from './text.ts'
import { UnreachableBanner } from './unreachable-banner.tsx'

type OpenDialog = 'commands' | 'shortcuts' | 'nav' | null

export function Shell() {
  const { data: session } = useQuery(sessionQuery)
  return (
    <RoleProvider value={session?.role ?? null}>
      <ShellFrame />
    </RoleProvider>
  )
}

/** The frame of every page: navigation, command menu, shortcuts, live updates and notifications. */
function ShellFrame() {
  const [open, setOpen] = useState<OpenDialog>(null)
  const close = () => setOpen(null)
  const queries = useQueryClient()
  useEffect(() => {
    void startLiveUpdates(queries)
    return stopLiveUpdates
  }, [queries])
  useCommandShortcut(() => setOpen('commands'))
  useNavShortcuts()
  useShortcuts({ '?': () => setOpen('shortcuts'), '/': () => setOpen('commands') })
  return (
    <>
      <a
        href="#main"
        className="sr-only z-50 rounded bg-surface p-2 focus:not-sr-only focus:fixed focus:top-2 focus:left-2"
      >
        {shellText.skipToContent}
      </a>
      <div className="min-h-dvh lg:grid lg:grid-cols-[13.5rem_1fr]">
        <aside className="sticky top-0 h-dvh border-r border-line bg-surface max-lg:hidden">
          <Nav onSearch={() => setOpen('commands')} onShortcuts={() => setOpen('shortcuts')} />
        </aside>
        <TopBar onNav={() => setOpen('nav')} onSearch={() => setOpen('commands')} />
        <main id="main" tabIndex={-1} className="min-w-0 outline-none">
          <Outlet />
        </main>
      </div>
      {open === 'commands' && <CommandMenu onClose={close} />}
      {open === 'shortcuts' && <ShortcutsDialog onClose={close} />}
      {open === 'nav' && (
        <Dialog
          label={shellText.navigation}
          onClose={close}
          className="my-0 ml-0 h-dvh max-h-none max-w-64 rounded-none"
        >
          <Nav onSearch={() => setOpen('commands')} onShortcuts={() => setOpen('shortcuts')} onNavigate={close} />
        </Dialog>
      )}
      <UnreachableBanner />
      <ApprovalNotifier />
      <HeldDecisionList />
      <KeptTextList />
      <ToastList />
      <SessionEndedDialog />
    </>
  )
}

function TopBar({ onNav, onSearch }: { onNav: () => void; onSearch: () => void }) {
  return (
    <header className="sticky top-0 z-20 flex h-12 items-center gap-2 border-b border-line bg-surface px-2 lg:hidden">
      <Button variant="ghost" aria-label={shellText.openNavigation} onClick={onNav} icon={<Menu size={18} />} />
      <span className="font-semibold">{shellText.productName}</span>
      <Button variant="ghost" className="ml-auto" onClick={onSearch} icon={<Search size={16} />}>
        <span className="sr-only">{shellText.commandMenu.label}</span>
        <KeyCap>{shellText.searchShortcut}</KeyCap>
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

/** `g` and then the shortcut of a page opens the page. */
function useNavShortcuts(): void {
  const navigate = useNavigate()
  const navItems = useNavItems()
  const itemByShortcut = useEffectEvent((letter: string) => navItems.find(({ shortcut }) => shortcut === letter))
  const [waiting, setWaiting] = useState(false)
  useEffect(() => {
    if (!waiting) return undefined
    const timer = setTimeout(() => setWaiting(false), SECOND_KEY_MS)
    const listen = (event: KeyboardEvent) => {
      const item = itemByShortcut(event.key)
      setWaiting(false)
      if (!item) return
      // Keeps the shortcuts of the page from seeing the same key.
      event.stopImmediatePropagation()
      event.preventDefault()
      void navigate({ to: item.to })
    }
    window.addEventListener('keydown', listen, { capture: true })
    return () => {
      clearTimeout(timer)
      window.removeEventListener('keydown', listen, { capture: true })
    }
  }, [waiting, navigate])
  useShortcuts({ g: () => setWaiting(true) })
}
