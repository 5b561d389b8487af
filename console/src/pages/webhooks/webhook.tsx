import { useState } from 'react'
import { callApi } from '../../api/http.ts'
import { WEBHOOK_EVENT_LABELS, type Webhook, type WebhookWithSecret } from '../../api/webhook-queries.ts'
import { useApiMutation } from '../../api/mutation.ts'
import { Button } from '../../ui/button.tsx'
import { Checkbox } from '../../ui/form-fields.tsx'
import { RequireRole } from '../../ui/role.tsx'
import { Tag } from '../../ui/status.tsx'
import { MutationButton } from '../../ui/mutation-button.tsx'
import { Deliveries } from './deliveries.tsx'
import { WebhookForm } from './form.tsx'

export function WebhookDetail({ webhook, onSecret }: { webhook: Webhook; onSecret: (secret: string) => void }) {
  const { id, url, events, enabled, previous_secret_until: until } = webhook
  const set = useApiMutation((on: boolean) => callApi(`/v1/webhooks/${id}`, { method: 'PUT', body: { enabled: on } }), {
    invalidates: ['webhooks', 'work'],
  })
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <section aria-label="The webhook" className="panel flex flex-col gap-3 p-5">
        <div className="flex flex-wrap items-center gap-3">
          <code className="min-w-0 font-mono text-sm font-medium break-all">{url}</code>
          <span className="ml-auto">
            <RequireRole minRole="admin" fallback={<Tag>{enabled ? 'on' : 'off'}</Tag>}>
              <Checkbox
                label="On"
                checked={set.isPending ? set.variables : enabled}
                onChange={(on) => set.mutate(on)}
              />
            </RequireRole>
          </span>
        </div>
        <p className="text-muted">Is told when {sentence(events.map((event) => WEBHOOK_EVENT_LABELS[event]))}.</p>
        {until && <p className="text-xs text-wait">The secret before the last one signs too until {shown(until)}.</p>}
        <RequireRole minRole="admin">
          <Actions webhook={webhook} onSecret={onSecret} />
        </RequireRole>
      </section>
      <Deliveries webhook={webhook} />
    </div>
  )
}

function Actions({ webhook, onSecret }: { webhook: Webhook; onSecret: (secret: string) => void }) {
  const [open, setOpen] = useState(false)
  const path = `/v1/webhooks/${webhook.id}`
  const invalidates = ['webhooks']
  const rotate = useApiMutation(() => callApi<WebhookWithSecret>(`${path}/rotate`, { method: 'POST' }), {
    invalidates,
    onSuccess: ({ secret }) => onSecret(secret),
  })
  const remove = useApiMutation(() => callApi(path, { method: 'DELETE' }), { invalidates })
  return (
    <div className="flex flex-wrap gap-2">
      <Button small onClick={() => setOpen(true)}>
        Change
      </Button>
      <MutationButton small mutation={rotate} confirmText="Make a new secret? The old one signs beside it for a day.">
        Rotate secret
      </MutationButton>
      <MutationButton
        small
        variant="danger"
        className="ml-auto"
        mutation={remove}
        confirmText="Delete this webhook and all that is on its way to it?"
      >
        Delete
      </MutationButton>
      {open && <WebhookForm webhook={webhook} onClose={() => setOpen(false)} />}
    </div>
  )
}

const sentence = (parts: string[]) => new Intl.ListFormat('en', { type: 'disjunction' }).format(parts)
const shown = (ts: string) => new Date(ts).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' })
