import {
  Activity,
  Box,
  CalendarClock,
  ChartColumn,
  Database,
  House,
  Inbox,
  type LucideIcon,
  Mailbox,
  Map,
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

/** The pages of the left navigation, in order. A new page is one entry here and one route in router.tsx. */
export interface NavItem {
  to: string
  label: string
  icon: LucideIcon
  /** After `g`: goes there. */
  shortcut: string
  /** Stands a little apart from those before. */
  startsGroup?: true
  /** What its number counts. */
  counter?: 'approvals' | 'working'
  /** The least role that can do anything there. */
  minRole?: Role
}

const NAV_ITEMS: NavItem[] = [
  { to: '/', label: 'Home', icon: House, shortcut: 'h' },
  { to: '/approvals', label: 'Approvals', icon: Inbox, shortcut: 'a', counter: 'approvals' },
  { to: '/tasks', label: 'Tasks', icon: Activity, shortcut: 't', counter: 'working' },
  { to: '/run', label: 'Run a task', icon: Play, shortcut: 'r', minRole: 'operator' },
  { to: '/cases', label: 'Cases', icon: SquareKanban, shortcut: 'b' },
  { to: '/clients', label: 'Clients', icon: Users, shortcut: 'u' },
  { to: '/records', label: 'Records', icon: Database, shortcut: 'd' },
  { to: '/wedges', label: 'Wedges', icon: Box, shortcut: 'w', startsGroup: true },
  { to: '/connections', label: 'Connections', icon: Plug, shortcut: 'c' },
  { to: '/channels', label: 'Channels', icon: Mailbox, shortcut: 'i' },
  { to: '/schedules', label: 'Schedules', icon: CalendarClock, shortcut: 's' },
  { to: '/blueprints', label: 'Blueprints', icon: Map, shortcut: 'p' },
  { to: '/webhooks', label: 'Webhooks', icon: Webhook, shortcut: 'o' },
  { to: '/analytics', label: 'Analytics', icon: ChartColumn, shortcut: 'n', startsGroup: true },
  { to: '/audit', label: 'Audit', icon: ScrollText, shortcut: 'l' },
  { to: '/settings', label: 'Settings', icon: Settings, shortcut: ',' },
]

/** The pages for the role that is held: for the navigation, the command menu and the keys alike. */
export function useNavItems(): NavItem[] {
  const may = useHasRole()
  return NAV_ITEMS.filter(({ minRole = 'viewer' }) => may(minRole))
}
