import { createRoute, createRouter, redirect } from '@tanstack/react-router'
import type { QueryClient } from '@tanstack/react-query'
import {
  type ApprovalsSearch,
  CONVERSATION_FILTERS,
  type ConversationsSearch,
  enumParam,
  type OauthSearch,
  type SettingsTab,
  type TasksSearch,
  type TaskTab,
  textParam,
  type WedgeTab,
  whereParam,
} from './search-params.ts'
import type { RecordFilter } from './api/history-queries.ts'
import { type ApprovalStatus, TASK_STATUSES } from './api/types.ts'
import { lazyPage } from './lazy-page.ts'
import { connectApp, decide, root, shell, signIn } from './root-routes.ts'
import { ErrorPage, NotFoundPage } from './shell/error-page.tsx'

/** All pages: the path, the search parameters, and the script that is loaded when the page opens. */
const home = createRoute({
  getParentRoute: () => shell,
  path: '/',
  component: lazyPage(() => import('./pages/home/home-page.tsx'), 'HomePage'),
})

const APPROVAL_STATUSES: ApprovalStatus[] = ['pending', 'auto_approved', 'approved', 'rejected', 'expired']

const approvals = createRoute({
  getParentRoute: () => shell,
  path: '/approvals',
  validateSearch: (search: Record<string, unknown>): ApprovalsSearch => ({
    ...enumParam('status', APPROVAL_STATUSES, search),
    ...enumParam('assignee', ['me'] as const, search),
    ...textParam('id', search),
  }),
  component: lazyPage(() => import('./pages/approvals/approvals-page.tsx'), 'ApprovalsPage'),
})

const tasks = createRoute({
  getParentRoute: () => shell,
  path: '/tasks',
  validateSearch: (search: Record<string, unknown>): TasksSearch => ({
    ...enumParam('status', TASK_STATUSES, search),
    ...textParam('wedge', search),
    ...textParam('client_id', search),
    ...textParam('case_id', search),
  }),
  component: lazyPage(() => import('./pages/tasks/task-list-page.tsx'), 'TaskListPage'),
})

const TASK_VIEWS: TaskTab[] = ['timeline', 'trace', 'effects', 'output', 'input', 'events']

const task = createRoute({
  getParentRoute: () => shell,
  path: '/tasks/$taskId',
  validateSearch: (search: Record<string, unknown>): { view?: TaskTab } => enumParam('view', TASK_VIEWS, search),
  component: lazyPage(() => import('./pages/tasks/task-page.tsx'), 'TaskPage'),
})

interface RunSearch {
  wedge?: string
  task_type?: string
}

const run = createRoute({
  getParentRoute: () => shell,
  path: '/run',
  validateSearch: (search: Record<string, unknown>): RunSearch => ({
    ...textParam('wedge', search),
    ...textParam('task_type', search),
  }),
  component: lazyPage(() => import('./pages/run/run-page.tsx'), 'RunPage'),
})

const connections = createRoute({
  getParentRoute: () => shell,
  path: '/connections',
  component: lazyPage(() => import('./pages/connections/connections-page.tsx'), 'ConnectionsPage'),
})

const OAUTH_RESULTS = ['connected'] as const

/** The search parameters that the OAuth callback adds to the page that it returns to. */
const oauthParams = (search: Record<string, unknown>): OauthSearch => ({
  ...enumParam('oauth', OAUTH_RESULTS, search),
  ...textParam('oauth_error', search),
})

const connection = createRoute({
  getParentRoute: () => shell,
  path: '/connections/$connectionId',
  validateSearch: oauthParams,
  component: lazyPage(() => import('./pages/connections/connection-page.tsx'), 'ConnectionPage'),
})

const wedges = createRoute({
  getParentRoute: () => shell,
  path: '/wedges',
  component: lazyPage(() => import('./pages/wedges/wedges-page.tsx'), 'WedgesPage'),
})

const WEDGE_VIEWS: WedgeTab[] = ['about', 'knowledge', 'intake', 'policy', 'manifest']

const wedge = createRoute({
  getParentRoute: () => shell,
  path: '/wedges/$wedge',
  validateSearch: (search: Record<string, unknown>): { view?: WedgeTab } => enumParam('view', WEDGE_VIEWS, search),
  component: lazyPage(() => import('./pages/wedges/wedge-page.tsx'), 'WedgePage'),
})

const clients = createRoute({
  getParentRoute: () => shell,
  path: '/clients',
  component: lazyPage(() => import('./pages/clients/clients-page.tsx'), 'ClientsPage'),
})

const client = createRoute({
  getParentRoute: () => shell,
  path: '/clients/$clientId',
  component: lazyPage(() => import('./pages/clients/client-page.tsx'), 'ClientPage'),
})

const thread = createRoute({
  getParentRoute: () => shell,
  path: '/threads/$threadId',
  // Links of mails and webhooks from before the page of conversations.
  beforeLoad: ({ params: { threadId } }) => {
    throw redirect({ to: '/conversations/$threadId', params: { threadId }, replace: true })
  },
})

const conversations = createRoute({
  getParentRoute: () => shell,
  path: '/conversations',
  validateSearch: (search: Record<string, unknown>): ConversationsSearch => ({
    ...enumParam('filter', CONVERSATION_FILTERS, search),
    ...textParam('q', search),
  }),
  component: lazyPage(() => import('./pages/conversations/conversations-page.tsx'), 'ConversationsPage'),
})

const noConversation = createRoute({
  getParentRoute: () => conversations,
  path: '/',
  component: lazyPage(() => import('./pages/conversations/conversations-page.tsx'), 'NoConversationOpen'),
})

const conversation = createRoute({
  getParentRoute: () => conversations,
  path: '$threadId',
  component: lazyPage(() => import('./pages/conversations/conversation-page.tsx'), 'ConversationPage'),
})

const cases = createRoute({
  getParentRoute: () => shell,
  path: '/cases',
  validateSearch: (search: Record<string, unknown>): { wedge?: string; closed?: string } => ({
    ...textParam('wedge', search),
    ...textParam('closed', search),
  }),
  component: lazyPage(() => import('./pages/cases/cases-page.tsx'), 'CasesPage'),
})

const caseRoute = createRoute({
  getParentRoute: () => shell,
  path: '/cases/$caseId',
  component: lazyPage(() => import('./pages/cases/case-page.tsx'), 'CasePage'),
})

const SETTINGS_VIEWS: SettingsTab[] = ['keys', 'members', 'projects', 'notifications', 'brand', 'service']

const settings = createRoute({
  getParentRoute: () => shell,
  path: '/settings',
  validateSearch: (search: Record<string, unknown>): { view?: SettingsTab } =>
    enumParam('view', SETTINGS_VIEWS, search),
  component: lazyPage(() => import('./pages/settings/settings-page.tsx'), 'SettingsPage'),
})

const blueprints = createRoute({
  getParentRoute: () => shell,
  path: '/blueprints',
  validateSearch: (search: Record<string, unknown>): { slug?: string } & OauthSearch => ({
    ...textParam('slug', search),
    ...oauthParams(search),
  }),
  component: lazyPage(() => import('./pages/blueprints/blueprints-page.tsx'), 'BlueprintsPage'),
})

const schedules = createRoute({
  getParentRoute: () => shell,
  path: '/schedules',
  component: lazyPage(() => import('./pages/schedules/schedules-page.tsx'), 'SchedulesPage'),
})

const channels = createRoute({
  getParentRoute: () => shell,
  path: '/channels',
  component: lazyPage(() => import('./pages/channels/channels-page.tsx'), 'ChannelsPage'),
})

const webhooks = createRoute({
  getParentRoute: () => shell,
  path: '/webhooks',
  validateSearch: (search: Record<string, unknown>): { id?: string } => textParam('id', search),
  component: lazyPage(() => import('./pages/webhooks/webhooks-page.tsx'), 'WebhooksPage'),
})

const records = createRoute({
  getParentRoute: () => shell,
  path: '/records',
  validateSearch: (search: Record<string, unknown>): RecordFilter => ({
    ...textParam('wedge', search),
    ...textParam('collection', search),
    ...whereParam(search),
  }),
  component: lazyPage(() => import('./pages/records/records-page.tsx'), 'RecordsPage'),
})

const DAYS = ['7', '30', '90', '365'] as const

const analytics = createRoute({
  getParentRoute: () => shell,
  path: '/analytics',
  validateSearch: (search: Record<string, unknown>): { days?: (typeof DAYS)[number] } =>
    enumParam('days', DAYS, { days: String(search['days']) }),
  component: lazyPage(() => import('./pages/analytics/analytics-page.tsx'), 'AnalyticsPage'),
})

const audit = createRoute({
  getParentRoute: () => shell,
  path: '/audit',
  validateSearch: (search: Record<string, unknown>): { action?: string; subject?: string } => ({
    ...textParam('action', search),
    ...textParam('subject', search),
  }),
  component: lazyPage(() => import('./pages/audit/audit-page.tsx'), 'AuditPage'),
})

/** Inside the shell, so that the navigation stays. */
const notFound = createRoute({ getParentRoute: () => shell, path: '$', component: NotFoundPage })

const work = [
  home,
  approvals,
  conversations.addChildren([noConversation, conversation]),
  tasks,
  task,
  run,
  cases,
  caseRoute,
  clients,
  client,
  thread,
  records,
  notFound,
] as const
const setup = [
  wedges,
  wedge,
  connections,
  connection,
  channels,
  schedules,
  webhooks,
  blueprints,
  analytics,
  audit,
  settings,
] as const
const tree = root.addChildren([signIn, decide, connectApp, shell.addChildren([...work, ...setup])])

export const createConsoleRouter = (queries: QueryClient) =>
  createRouter({
    routeTree: tree,
    context: { queries },
    defaultPreload: 'intent',
    defaultErrorComponent: ErrorPage,
    scrollRestoration: true,
  })

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createConsoleRouter>
  }
}
