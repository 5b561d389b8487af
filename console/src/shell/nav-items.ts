import {
  Activity,
  Box,
  CalendarClock,
  ChartColumn,
  Database,
  House as HomeIcon,
  Inbox,
  type LucideIcon,
  Mailbox,
  Map,
  MessagesSquare,
  Play,
  Plug,
  ScrollText,
  Settings,
  SquareKanban,
  Users,
  Webhook,
} from 'lucide-react'
import type { Role } from '../api/types.ts'
import { useHasRole } from '../ui/role.tsx'
import { shellText } from './text.ts'

/** A page in the navigation. A new page needs an entry here and a route in router.tsx. */
export interface NavItem {
  to: string
  label: string
  icon: LucideIcon
  /** The key that opens the page after `g`. */
  shortcut: string
  /** Adds a gap before this item. */
  startsGroup?: true
  /** The number that is shown beside the label. */
  counter?: 'approvals' | 'conversations' | 'activeTasks'
  /** The minimum role that can use the page. */
  minRole?: Role
}

const NAV_ITEMS: NavItem[] = [
  { to: '/', label: shellText.pages.home, icon: HomeIcon, shortcut: 'h' },
  { to: '/approvals', label: shellText.pages.approvals, icon: Inbox, shortcut: 'a', counter: 'approvals' },
  {
    to: '/conversations',
    label: shellText.pages.conversations,
    icon: MessagesSquare,
    shortcut: 'm',
    counter: 'conversations',
  },
  { to: '/tasks', label: shellText.pages.tasks, icon: Activity, shortcut: 't', counter: 'activeTasks' },
  { to: '/run', label: shellText.pages.run, icon: Play, shortcut: 'r', minRole: 'operator' },
  { to: '/cases', label: shellText.pages.cases, icon: SquareKanban, shortcut: 'b' },
  { to: '/clients', label: shellText.pages.clients, icon: Users, shortcut: 'u' },
  { to: '/records', label: shellText.pages.records, icon: Database, shortcut: 'd' },
  { to: '/wedges', label: shellText.pages.wedges, icon: Box, shortcut: 'w', startsGroup: true },
  { to: '/connections', label: shellText.pages.connections, icon: Plug, shortcut: 'c' },
  { to: '/channels', label: shellText.pages.channels, icon: Mailbox, shortcut: 'i' },
  { to: '/schedules', label: shellText.pages.schedules, icon: CalendarClock, shortcut: 's' },
  { to: '/blueprints', label: shellText.pages.blueprints, icon: Map, shortcut: 'p' },
  { to: '/webhooks', label: shellText.pages.webhooks, icon: Webhook, shortcut: 'o' },
  { to: '/analytics', label: shellText.pages.analytics, icon: ChartColumn, shortcut: 'n', startsGroup: true },
  { to: '/audit', label: shellText.pages.audit, icon: ScrollText, shortcut: 'l' },
  { to: '/settings', label: shellText.pages.settings, icon: Settings, shortcut: ',' },
]

/** The pages that the role can use, for the navigation, the command menu and the shortcuts. */
export function useNavItems(): NavItem[] {
  const hasRole = useHasRole()
  return NAV_ITEMS.filter(({ minRole = 'viewer' }) => hasRole(minRole))
}
