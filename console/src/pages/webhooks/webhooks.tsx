import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { toCurl } from '../../api/http.ts'
import { type Webhook, webhooksQuery } from '../../api/webhook-queries.ts'
import { Button } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/page-states.tsx'
import { QueryResult } from '../../ui/query-result.tsx'
import { RequireRole } from '../../ui/role.tsx'
import { ShowOnce } from '../../ui/show-once.tsx'
import { Page } from '../../ui/page.tsx'
import { Tag } from '../../ui/status.tsx'
import { WebhookForm } from './form.tsx'
import { WebhookDetail } from './webhook.tsx'

const route = getRouteApi('/shell/webhooks')

/** Whom the service tells what needs attention. */
export function Webhooks() {
  const query = useQuery(webhooksQuery)
  const navigate = route.useNavigate()
  const [making, setMaking] = useState(false)
  const [secret, setSecret] = useState<string | null>(null)
  return (
    <Page
      title="Webhooks"
      lead="Signed notices to your own server, so that nobody has to poll."
      actions={
        <RequireRole minRole="admin">
          <Button variant="primary" icon={<Plus size={14} />} onClick={() => setMaking(true)}>
            New webhook
          </Button>
        </RequireRole>
      }
    >
      <QueryResult query={query}>
        {(webhooks) => (webhooks.length === 0 ? <NoWebhooks /> : <Chosen webhooks={webhooks} onSecret={setSecret} />)}
      </QueryResult>
      {making && (
        <WebhookForm
          onClose={() => setMaking(false)}
          onMade={(made) => {
            setMaking(false)
            setSecret(made.secret)
            void navigate({ search: { id: made.id } })
          }}
        />
      )}
      {secret && (
        <ShowOnce
          title="Secret of the webhook"
          lead="Your server checks the signature with it. Copy it now: it is not shown again."
          value={secret}
          onClose={() => setSecret(null)}
        />
      )}
    </Page>
  )
}

function Chosen({ webhooks, onSecret }: { webhooks: Webhook[]; onSecret: (secret: string) => void }) {
  const { id } = route.useSearch()
  const navigate = route.useNavigate()
  const chosen = webhooks.find((one) => one.id === id) ?? webhooks[0]
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 lg:grid-cols-[18rem_minmax(0,1fr)]">
      <ul aria-label="Webhooks" className="panel divide-y divide-line overflow-hidden">
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
              <span className="ml-auto">{!webhook.enabled && <Tag>off</Tag>}</span>
            </button>
          </li>
        ))}
      </ul>
      {chosen && <WebhookDetail key={chosen.id} webhook={chosen} onSecret={onSecret} />}
    </div>
  )
}

function NoWebhooks() {
  const body = { url: 'https://hooks.example.com/svc', events: ['approval.requested', 'task.finished'] }
  return (
    <EmptyState title="Nobody is told yet" minRole="admin" curl={toCurl('/v1/webhooks', { method: 'POST', body })}>
      An approval waits five minutes. A webhook tells your server, your chat or your pager at once.
    </EmptyState>
  )
}
