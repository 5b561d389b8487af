import { useQuery } from '@tanstack/react-query'
import { Outlet, useNavigate } from '@tanstack/react-router'
import { Menu, Search } from 'lucide-react'
import { useEffect, useEffectEvent, useState } from 'react'
import { sessionQuery } from '../api/queries.ts'
import { Button, KeyCap } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { HeldRole } from '../ui/may.tsx'
import { Toasts } from '../ui/toast.tsx'
import { ApprovalBell } from './approval-bell.tsx'
import { CommandMenu } from './command-menu.tsx'
import { useKeys } from './keys.ts'
import { KeysSheet } from './keys-sheet.tsx'
import { Live } from './live.tsx'
import { Nav } from './nav.tsx'
import { useSections } from './sections.ts'

type Open = 'commands' | 'keys' | 'nav' | null

export function Shell() {
  const { data: session } = useQuery(sessionQuery)
  return (
    <HeldRole value={session?.role ?? null}>
      <Frame />
    </HeldRole>
  )
}

/** Around every page: navigation, command menu, key sheet, the live stream and its notices. */
function Frame() {
  const [open, setOpen] = useState<Open>(null)
  const close = () => setOpen(null)
  useCommandKey(() => setOpen('commands'))
  useGoKeys()
  useKeys({ '?': () => setOpen('keys'), '/': () => setOpen('commands') })
  return (
    <Live>
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
      {open === 'keys' && <KeysSheet onClose={close} />}
      {open === 'nav' && (
        <Dialog label="Navigation" onClose={close} className="my-0 ml-0 h-dvh max-h-none max-w-64 rounded-none">
          <Nav onSearch={() => setOpen('commands')} onKeys={() => setOpen('keys')} onGone={close} />
        </Dialog>
      )}
      <ApprovalBell />
      <Toasts />
    </Live>
  )
}

function TopBar({ onNav, onSearch }: { onNav: () => void; onSearch: () => void }) {
  return (
    <header className="sticky top-0 z-20 flex h-12 items-center gap-2 border-b border-line bg-surface px-2 lg:hidden">
      <Button look="ghost" aria-label="Open navigation" onClick={onNav} icon={<Menu size={18} />} />
      <span className="font-semibold">Agent Work Service</span>
      <Button look="ghost" className="ml-auto" onClick={onSearch} icon={<Search size={16} />}>
        <span className="sr-only">Search and commands</span>
        <KeyCap>Ctrl K</KeyCap>
      </Button>
    </header>
  )
}

function useCommandKey(open: () => void): void {
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
function useGoKeys(): void {
  const navigate = useNavigate()
  const sections = useSections()
  const sectionBy = useEffectEvent((letter: string) => sections.find(({ key }) => key === letter))
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
  useKeys({ g: () => setWaiting(true) })
}
