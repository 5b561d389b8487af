import type { WebhookEvent } from '../../api/webhook-queries.ts'
import { plural } from '../../ui/plural.ts'

const events: Record<WebhookEvent, string> = {
  'approval.requested': 'Approval requested',
  'approval.expiring': 'Approval expires soon',
  'task.finished': 'Task finished',
  'connection.failing': 'Connection failing',
  'connection.tools_changed': 'Tools of an MCP server changed',
  'schedule.failed': 'Schedule failed to start its task',
}

const deliveryStatus = { pending: 'Pending', delivered: 'Delivered', failed: 'Failed' }

export const webhooksText = {
  title: 'Webhooks',
  lead: 'Signed event notifications for your server.',
  newWebhook: 'New webhook',
  secret: 'Webhook secret',
  secretHint: "Your server verifies signatures with it. Copy it now – you won't be able to see it again.",
  off: 'Off',
  on: 'On',
  none: 'No webhooks yet',
  noneHint: 'Approvals expire. A webhook notifies your server, chat or pager immediately.',
  webhook: 'Webhook',
  enabled: 'Enabled',
  sends: (names: string[]) => `Sends: ${names.map(lowerFirst).join(', ')}`,
  oldSecretUntil: (time: string) => `The old secret stays valid until ${time}.`,
  edit: 'Edit',
  rotateSecret: 'Rotate secret',
  confirmRotate: 'Create a new secret? The old secret stays valid for 24 hours.',
  delete: 'Delete',
  confirmDelete: 'Delete this webhook and its pending deliveries?',
  editWebhook: 'Edit webhook',
  save: 'Save',
  create: 'Create webhook',
  url: 'URL',
  urlExample: 'https://hooks.example.com/svc',
  eventsLabel: 'Events',
  events,
  deliveries: 'Deliveries',
  allDeliveries: 'All',
  deliveryStatus,
  noDeliveries: 'No deliveries yet.',
  noMatch: 'No deliveries with this status.',
  columns: ['Event', 'Status', 'Subject', 'Created'],
  actions: 'Actions',
  retry: 'Retry',
  attempts: (count: number) => plural(count, 'attempt', 'attempts'),
  nextAttempt: (time: string) => `next at ${time}`,
  httpStatus: (status: number) => `HTTP ${status}`,
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}
