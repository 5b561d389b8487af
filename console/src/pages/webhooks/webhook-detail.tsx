import { useState } from 'react'
import { callOperation } from '../../api/http.ts'
import { useApiMutation } from '../../api/mutation.ts'
import type { Webhook } from '../../api/webhook-queries.ts'
import { Button } from '../../ui/button.tsx'
import { Checkbox } from '../../ui/form-fields.tsx'
import { formatDateTime } from '../../ui/format.ts'
import { MutationButton } from '../../ui/mutation-button.tsx'
import { RequireRole } from '../../ui/role.tsx'
import { Tag } from '../../ui/status.tsx'
import { DeliveryList } from './delivery-list.tsx'
import { webhooksText } from './text.ts'
import { WebhookForm } from './webhook-form.tsx'

export function WebhookDetail({ webhook, onSecret }: { webhook: Webhook; onSecret: (secret: string) => void }) {
  const { id, url, events, enabled, previous_secret_until } = webhook
  const setEnabled = useApiMutation((on: boolean) => callOperation('updateWebhook', { id, body: { enabled: on } }), {
    invalidates: ['webhooks', 'work'],
  })
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <section aria-label={webhooksText.webhook} className="panel flex flex-col gap-3 p-5">
        <div className="flex flex-wrap items-center gap-3">
          <code className="min-w-0 font-mono text-sm font-medium break-all">{url}</code>
          <span className="ml-auto">
            <RequireRole minRole="admin" fallback={<Tag>{enabled ? webhooksText.on : webhooksText.off}</Tag>}>
              <Checkbox
                label={webhooksText.enabled}
                checked={setEnabled.isPending ? setEnabled.variables : enabled}
                onChange={(on) => setEnabled.mutate(on)}
              />
            </RequireRole>
          </span>
        </div>
        <p className="text-muted">{webhooksText.sends(events.map((event) => webhooksText.events[event]))}</p>
        {previous_secret_until && (
          <p className="text-xs text-wait">{webhooksText.oldSecretUntil(formatDateTime(previous_secret_until))}</p>
        )}
        <RequireRole minRole="admin">
          <WebhookActions webhook={webhook} onSecret={onSecret} />
        </RequireRole>
      </section>
      <DeliveryList webhook={webhook} />
    </div>
  )
}

function WebhookActions({ webhook, onSecret }: { webhook: Webhook; onSecret: (secret: string) => void }) {
  const [open, setOpen] = useState(false)
  const { id } = webhook
  const invalidates = ['webhooks']
  const rotate = useApiMutation(() => callOperation('rotateWebhookSecret', { id }), {
    invalidates,
    onSuccess: ({ secret }) => onSecret(secret),
  })
  const remove = useApiMutation(() => callOperation('deleteWebhook', { id }), { invalidates })
  return (
    <div className="flex flex-wrap gap-2">
      <Button small onClick={() => setOpen(true)}>
        {webhooksText.edit}
      </Button>
      <MutationButton small mutation={rotate} confirmText={webhooksText.confirmRotate}>
        {webhooksText.rotateSecret}
      </MutationButton>
      <MutationButton
        small
        variant="danger"
        className="ml-auto"
        mutation={remove}
        confirmText={webhooksText.confirmDelete}
      >
        {webhooksText.delete}
      </MutationButton>
      {open && <WebhookForm webhook={webhook} onClose={() => setOpen(false)} />}
    </div>
  )
}
