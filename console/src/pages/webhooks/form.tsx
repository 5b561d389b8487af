import { useState } from 'react'
import { callApi } from '../../api/http.ts'
import {
  type WebhookEvent,
  WEBHOOK_EVENT_LABELS,
  WEBHOOK_EVENTS,
  type Webhook,
  type WebhookWithSecret,
} from '../../api/webhook-queries.ts'
import { useApiMutation } from '../../api/mutation.ts'
import { Checkbox, TextField } from '../../ui/form-fields.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'

/** A secret comes only with a new one. */
export function WebhookForm({
  webhook,
  onClose,
  onMade = onClose,
}: {
  webhook?: Webhook
  onClose: () => void
  onMade?: (made: WebhookWithSecret) => void
}) {
  const [url, setUrl] = useState(webhook?.url ?? '')
  const [events, setEvents] = useState<WebhookEvent[]>(webhook?.events ?? ['approval.requested', 'task.finished'])
  const save = useApiMutation(
    () =>
      callApi<WebhookWithSecret>(webhook ? `/v1/webhooks/${webhook.id}` : '/v1/webhooks', {
        method: webhook ? 'PUT' : 'POST',
        body: { url, events },
      }),
    { invalidates: ['webhooks'], onSuccess: onMade },
  )
  return (
    <FormDialog
      title={webhook ? 'Change the webhook' : 'New webhook'}
      submitLabel="Save"
      canSubmit={url.trim() !== '' && events.length > 0}
      mutation={save}
      onClose={onClose}
    >
      <TextField label="Address" type="url" placeholder="https://hooks.example.com/svc" value={url} onChange={setUrl} />
      <EventChecks events={events} onChange={setEvents} />
    </FormDialog>
  )
}

function EventChecks({ events, onChange }: { events: WebhookEvent[]; onChange: (events: WebhookEvent[]) => void }) {
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-1.5 font-medium">Tell when</legend>
      {WEBHOOK_EVENTS.map((notice) => {
        const others = events.filter((one) => one !== notice)
        return (
          <Checkbox
            key={notice}
            label={WEBHOOK_EVENT_LABELS[notice]}
            checked={events.includes(notice)}
            onChange={(on) => onChange(on ? [...others, notice] : others)}
          />
        )
      })}
    </fieldset>
  )
}
