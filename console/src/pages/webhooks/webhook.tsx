import { useState } from 'react'
import { call } from '../../api/http.ts'
import { NOTICE_WORDS, type Webhook, type WithSecret } from '../../api/webhooks.ts'
import { useWrite } from '../../api/write.ts'
import { Button } from '../../ui/button.tsx'
import { Check } from '../../ui/form.tsx'
import { May } from '../../ui/may.tsx'
import { Tag } from '../../ui/status.tsx'
import { WriteButton } from '../../ui/write-button.tsx'
import { Deliveries } from './deliveries.tsx'
import { WebhookForm } from './form.tsx'

export function WebhookDetail({ webhook, onSecret }: { webhook: Webhook; onSecret: (secret: string) => void }) {
  const { id, url, events, enabled, previous_secret_until: until } = webhook
  const set = useWrite((on: boolean) => call(`/v1/webhooks/${id}`, { method: 'PUT', body: { enabled: on } }), {
    stale: ['webhooks', 'work'],
  })
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <section aria-label="The webhook" className="panel flex flex-col gap-3 p-5">
        <div className="flex flex-wrap items-center gap-3">
          <code className="min-w-0 font-mono text-sm font-medium break-all">{url}</code>
          <span className="ml-auto">
            <May least="admin" otherwise={<Tag>{enabled ? 'on' : 'off'}</Tag>}>
              <Check label="On" checked={set.isPending ? set.variables : enabled} onChange={(on) => set.mutate(on)} />
            </May>
          </span>
        </div>
        <p className="text-muted">Is told when {sentence(events.map((event) => NOTICE_WORDS[event]))}.</p>
        {until && <p className="text-xs text-wait">The secret before the last one signs too until {shown(until)}.</p>}
        <May least="admin">
          <Actions webhook={webhook} onSecret={onSecret} />
        </May>
      </section>
      <Deliveries webhook={webhook} />
    </div>
  )
}

function Actions({ webhook, onSecret }: { webhook: Webhook; onSecret: (secret: string) => void }) {
  const [open, setOpen] = useState(false)
  const path = `/v1/webhooks/${webhook.id}`
  const stale = ['webhooks']
  const rotate = useWrite(() => call<WithSecret>(`${path}/rotate`, { method: 'POST' }), {
    stale,
    onDone: ({ secret }) => onSecret(secret),
  })
  const remove = useWrite(() => call(path, { method: 'DELETE' }), { stale })
  return (
    <div className="flex flex-wrap gap-2">
      <Button small onClick={() => setOpen(true)}>
        Change
      </Button>
      <WriteButton small write={rotate} sure="Make a new secret? The old one signs beside it for a day.">
        Rotate secret
      </WriteButton>
      <WriteButton
        small
        look="danger"
        className="ml-auto"
        write={remove}
        sure="Delete this webhook and all that is on its way to it?"
      >
        Delete
      </WriteButton>
      {open && <WebhookForm webhook={webhook} onClose={() => setOpen(false)} />}
    </div>
  )
}

const sentence = (parts: string[]) => new Intl.ListFormat('en', { type: 'disjunction' }).format(parts)
const shown = (ts: string) => new Date(ts).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' })
