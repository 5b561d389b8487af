import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { toCurl } from '../../api/http.ts'
import { type Webhook, webhooksQuery } from '../../api/webhook-queries.ts'
import { Button } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/page-states.tsx'
import { Page } from '../../ui/page.tsx'
import { QueryResult } from '../../ui/query-result.tsx'
import { RequireRole } from '../../ui/role.tsx'
import { ShowOnce } from '../../ui/show-once.tsx'
import { Tag } from '../../ui/status.tsx'
import { webhooksText } from './text.ts'
import { WebhookDetail } from './webhook-detail.tsx'
import { WebhookForm } from './webhook-form.tsx'

const route = getRouteApi('/shell/webhooks')

/** The endpoints that receive event notifications, and the deliveries of the chosen one. */
export function WebhooksPage() {
  const query = useQuery(webhooksQuery)
  const navigate = route.useNavigate()
  const [isCreating, setIsCreating] = useState(false)
  const [secret, setSecret] = useState<string | null>(null)
  return (
    <Page
      title={webhooksText.title}
      lead={webhooksText.lead}
      actions={
        <RequireRole minRole="admin">
          <Button variant="primary" icon={<Plus size={14} />} onClick={() => setIsCreating(true)}>
            {webhooksText.newWebhook}
          </Button>
        </RequireRole>
      }
    >
      <QueryResult query={query}>
        {(webhooks) =>
          webhooks.length === 0 ? (
            <NoWebhooks onNew={() => setIsCreating(true)} />
          ) : (
            <WebhookList webhooks={webhooks} onSecret={setSecret} />
          )
        }
      </QueryResult>
      {isCreating && (
        <WebhookForm
          onClose={() => setIsCreating(false)}
          onCreated={({ id, secret }) => {
            setIsCreating(false)
            setSecret(secret)
            void navigate({ search: { id } })
          }}
        />
      )}
      {secret && (
        <ShowOnce
          title={webhooksText.secret}
          lead={webhooksText.secretHint}
          value={secret}
          onClose={() => setSecret(null)}
        />
      )}
    </Page>
  )
}

function WebhookList({ webhooks, onSecret }: { webhooks: Webhook[]; onSecret: (secret: string) => void }) {
  const { id } = route.useSearch()
  const navigate = route.useNavigate()
  const chosen = webhooks.find((webhook) => webhook.id === id) ?? webhooks[0]
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 lg:grid-cols-[18rem_minmax(0,1fr)]">
      <ul aria-label={webhooksText.title} className="panel divide-y divide-line overflow-hidden">
        {webhooks.map((webhook) => (
          <li key={webhook.id}>
            <button
              type="button"
              aria-pressed={webhook === chosen}
              onClick={() => void navigate({ search: { id: webhook.id } })}
              className="flex w-full items-center gap-2 px-4 py-2.5 text-left -outline-offset-2 hover:bg-hover aria-pressed:bg-accent-soft"
            >
              <span className="min-w-0">
                <span className="block truncate font-medium">{new URL(webhook.url).host}</span>
                <span className="block truncate text-xs text-muted">{new URL(webhook.url).pathname}</span>
              </span>
              <span className="ml-auto">{!webhook.enabled && <Tag>{webhooksText.off}</Tag>}</span>
            </button>
          </li>
        ))}
      </ul>
      {chosen && <WebhookDetail key={chosen.id} webhook={chosen} onSecret={onSecret} />}
    </div>
  )
}

function NoWebhooks({ onNew }: { onNew: () => void }) {
  return (
    <EmptyState
      title={webhooksText.none}
      minRole="admin"
      action={<Button onClick={onNew}>{webhooksText.newWebhook}</Button>}
      curl={toCurl('createWebhook', {
        body: { url: webhooksText.urlExample, events: ['approval.requested', 'task.finished'] },
      })}
    >
      {webhooksText.noneHint}
    </EmptyState>
  )
}
