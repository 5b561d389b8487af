import { Activity, Box, House, Inbox, type LucideIcon, Play, Plug, Settings, SquareKanban, Users } from 'lucide-react'

/** The pages of the left navigation, in order. A new page is one entry here and one route in router.tsx. */
export interface Section {
  to: string
  label: string
  icon: LucideIcon
  /** After `g`: goes there. */
  key: string
  /** What its number counts. */
  counts?: 'approvals' | 'working'
}

export const SECTIONS: Section[] = [
  { to: '/', label: 'Home', icon: House, key: 'h' },
  { to: '/approvals', label: 'Approvals', icon: Inbox, key: 'a', counts: 'approvals' },
  { to: '/tasks', label: 'Tasks', icon: Activity, key: 't', counts: 'working' },
  { to: '/run', label: 'Run a task', icon: Play, key: 'r' },
  { to: '/cases', label: 'Cases', icon: SquareKanban, key: 'b' },
  { to: '/clients', label: 'Clients', icon: Users, key: 'u' },
  { to: '/wedges', label: 'Wedges', icon: Box, key: 'w' },
  { to: '/connections', label: 'Connections', icon: Plug, key: 'c' },
  { to: '/settings', label: 'Settings', icon: Settings, key: ',' },
]
