import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import type { QueryClient } from '@tanstack/react-query'
import {
  type ApprovalsSearch,
  one,
  type SettingsView,
  type TasksSearch,
  type TaskView,
  text,
  wayBack,
  type WedgeView,
  whereOf,
} from './address.ts'
import * as credential from './api/credential.ts'
import type { RecordFilter } from './api/history.ts'
import { sessionQuery } from './api/queries.ts'
import { type ApprovalStatus, TASK_STATUSES } from './api/types.ts'
import { Broken, NoPage } from './shell/broken.tsx'
import { Shell } from './shell/shell.tsx'

/** Every page: its address, what stands in the address's query, and the file that is loaded when it is opened. */
const root = createRootRouteWithContext<{ queries: QueryClient }>()({
  component: Outlet,
  notFoundComponent: NoPage,
  errorComponent: ({ error }) => <Broken error={error} />,
})

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: ({ to }: Record<string, unknown>) => wayBack(to, location.origin),
  component: lazyRouteComponent(() => import('./pages/sign-in.tsx'), 'SignIn'),
})

const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  component: Shell,
  // The project is settled before anything of it is asked for.
  beforeLoad: async ({ context, location: { href } }) => {
    if (credential.token() === null) throw redirect({ to: '/sign-in', search: wayBack(href, location.origin) })
    await context.queries.ensureQueryData(sessionQuery)
  },
})

const home = createRoute({
  getParentRoute: () => shell,
  path: '/',
  component: lazyRouteComponent(() => import('./pages/home/home.tsx'), 'Home'),
})

const APPROVAL_STATUSES: ApprovalStatus[] = ['pending', 'auto_approved', 'approved', 'rejected', 'expired']

const approvals = createRoute({
  getParentRoute: () => shell,
  path: '/approvals',
  validateSearch: (search: Record<string, unknown>): ApprovalsSearch => ({
    ...one('status', APPROVAL_STATUSES, search),
    ...text('id', search),
  }),
  component: lazyRouteComponent(() => import('./pages/approvals/inbox.tsx'), 'Inbox'),
})

const tasks = createRoute({
  getParentRoute: () => shell,
  path: '/tasks',
  validateSearch: (search: Record<string, unknown>): TasksSearch => ({
    ...one('status', TASK_STATUSES, search),
    ...text('wedge', search),
    ...text('client_id', search),
    ...text('case_id', search),
  }),
  component: lazyRouteComponent(() => import('./pages/tasks/list.tsx'), 'TaskList'),
})

const TASK_VIEWS: TaskView[] = ['timeline', 'trace', 'effects', 'output', 'input', 'events']

const task = createRoute({
  getParentRoute: () => shell,
  path: '/tasks/$taskId',
  validateSearch: (search: Record<string, unknown>): { view?: TaskView } => one('view', TASK_VIEWS, search),
  component: lazyRouteComponent(() => import('./pages/tasks/task.tsx'), 'TaskPage'),
})

interface RunSearch {
  wedge?: string
  task_type?: string
}

const run = createRoute({
  getParentRoute: () => shell,
  path: '/run',
  validateSearch: (search: Record<string, unknown>): RunSearch => ({
    ...text('wedge', search),
    ...text('task_type', search),
  }),
  component: lazyRouteComponent(() => import('./pages/run/run.tsx'), 'Run'),
})

const connections = createRoute({
  getParentRoute: () => shell,
  path: '/connections',
  component: lazyRouteComponent(() => import('./pages/connections/connections.tsx'), 'Connections'),
})

const wedges = createRoute({
  getParentRoute: () => shell,
  path: '/wedges',
  component: lazyRouteComponent(() => import('./pages/wedges/list.tsx'), 'WedgeList'),
})

const WEDGE_VIEWS: WedgeView[] = ['about', 'knowledge', 'intake', 'policy', 'manifest']

const wedge = createRoute({
  getParentRoute: () => shell,
  path: '/wedges/$wedge',
  validateSearch: (search: Record<string, unknown>): { view?: WedgeView } => one('view', WEDGE_VIEWS, search),
  component: lazyRouteComponent(() => import('./pages/wedges/wedge.tsx'), 'WedgePage'),
})

const clients = createRoute({
  getParentRoute: () => shell,
  path: '/clients',
  component: lazyRouteComponent(() => import('./pages/clients/list.tsx'), 'Clients'),
})

const client = createRoute({
  getParentRoute: () => shell,
  path: '/clients/$clientId',
  component: lazyRouteComponent(() => import('./pages/clients/client.tsx'), 'ClientPage'),
})

const thread = createRoute({
  getParentRoute: () => shell,
  path: '/threads/$threadId',
  component: lazyRouteComponent(() => import('./pages/clients/thread.tsx'), 'ThreadPage'),
})

const cases = createRoute({
  getParentRoute: () => shell,
  path: '/cases',
  validateSearch: (search: Record<string, unknown>): { wedge?: string; closed?: string } => ({
    ...text('wedge', search),
    ...text('closed', search),
  }),
  component: lazyRouteComponent(() => import('./pages/cases/board.tsx'), 'Board'),
})

const SETTINGS_VIEWS: SettingsView[] = ['keys', 'members', 'projects', 'service']

const settings = createRoute({
  getParentRoute: () => shell,
  path: '/settings',
  validateSearch: (search: Record<string, unknown>): { view?: SettingsView } => one('view', SETTINGS_VIEWS, search),
  component: lazyRouteComponent(() => import('./pages/settings/settings.tsx'), 'Settings'),
})

const blueprints = createRoute({
  getParentRoute: () => shell,
  path: '/blueprints',
  validateSearch: (search: Record<string, unknown>): { slug?: string } => text('slug', search),
  component: lazyRouteComponent(() => import('./pages/blueprints/blueprints.tsx'), 'Blueprints'),
})

const schedules = createRoute({
  getParentRoute: () => shell,
  path: '/schedules',
  component: lazyRouteComponent(() => import('./pages/schedules/schedules.tsx'), 'Schedules'),
})

const channels = createRoute({
  getParentRoute: () => shell,
  path: '/channels',
  component: lazyRouteComponent(() => import('./pages/channels/channels.tsx'), 'Channels'),
})

const webhooks = createRoute({
  getParentRoute: () => shell,
  path: '/webhooks',
  validateSearch: (search: Record<string, unknown>): { id?: string } => text('id', search),
  component: lazyRouteComponent(() => import('./pages/webhooks/webhooks.tsx'), 'Webhooks'),
})

const records = createRoute({
  getParentRoute: () => shell,
  path: '/records',
  validateSearch: (search: Record<string, unknown>): RecordFilter => ({
    ...text('wedge', search),
    ...text('collection', search),
    ...whereOf(search),
  }),
  component: lazyRouteComponent(() => import('./pages/records/records.tsx'), 'Records'),
})

const DAYS = ['7', '30', '90', '365'] as const

const analytics = createRoute({
  getParentRoute: () => shell,
  path: '/analytics',
  validateSearch: (search: Record<string, unknown>): { days?: (typeof DAYS)[number] } =>
    one('days', DAYS, { days: String(search['days']) }),
  component: lazyRouteComponent(() => import('./pages/analytics/analytics.tsx'), 'AnalyticsPage'),
})

const audit = createRoute({
  getParentRoute: () => shell,
  path: '/audit',
  validateSearch: (search: Record<string, unknown>): { action?: string; subject?: string } => ({
    ...text('action', search),
    ...text('subject', search),
  }),
  component: lazyRouteComponent(() => import('./pages/audit/audit.tsx'), 'Audit'),
})

const work = [home, approvals, tasks, task, run, cases, clients, client, thread, records] as const
const setup = [
  wedges,
  wedge,
  connections,
  channels,
  schedules,
  webhooks,
  blueprints,
  analytics,
  audit,
  settings,
] as const
const tree = root.addChildren([signIn, shell.addChildren([...work, ...setup])])

export const makeRouter = (queries: QueryClient) =>
  createRouter({ routeTree: tree, context: { queries }, defaultPreload: 'intent', scrollRestoration: true })

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof makeRouter>
  }
}
