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
import { useMay } from '../ui/may.tsx'

/** The pages of the left navigation, in order. A new page is one entry here and one route in router.tsx. */
export interface Section {
  to: string
  label: string
  icon: LucideIcon
  /** After `g`: goes there. */
  key: string
  /** Stands a little apart from those before. */
  apart?: true
  /** What its number counts. */
  counts?: 'approvals' | 'working'
  /** The least role that can do anything there. */
  least?: Role
}

const SECTIONS: Section[] = [
  { to: '/', label: 'Home', icon: House, key: 'h' },
  { to: '/approvals', label: 'Approvals', icon: Inbox, key: 'a', counts: 'approvals' },
  { to: '/tasks', label: 'Tasks', icon: Activity, key: 't', counts: 'working' },
  { to: '/run', label: 'Run a task', icon: Play, key: 'r', least: 'operator' },
  { to: '/cases', label: 'Cases', icon: SquareKanban, key: 'b' },
  { to: '/clients', label: 'Clients', icon: Users, key: 'u' },
  { to: '/records', label: 'Records', icon: Database, key: 'd' },
  { to: '/wedges', label: 'Wedges', icon: Box, key: 'w', apart: true },
  { to: '/connections', label: 'Connections', icon: Plug, key: 'c' },
  { to: '/channels', label: 'Channels', icon: Mailbox, key: 'i' },
  { to: '/schedules', label: 'Schedules', icon: CalendarClock, key: 's' },
  { to: '/blueprints', label: 'Blueprints', icon: Map, key: 'p' },
  { to: '/webhooks', label: 'Webhooks', icon: Webhook, key: 'o' },
  { to: '/analytics', label: 'Analytics', icon: ChartColumn, key: 'n', apart: true },
  { to: '/audit', label: 'Audit', icon: ScrollText, key: 'l' },
  { to: '/settings', label: 'Settings', icon: Settings, key: ',' },
]

/** The pages for the role that is held: for the navigation, the command menu and the keys alike. */
export function useSections(): Section[] {
  const may = useMay()
  return SECTIONS.filter(({ least = 'viewer' }) => may(least))
}
