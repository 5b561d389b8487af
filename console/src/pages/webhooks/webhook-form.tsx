import { useState } from 'react'
import { callOperation } from '../../api/http.ts'
import { useApiMutation } from '../../api/mutation.ts'
import { type Webhook, WEBHOOK_EVENTS, type WebhookEvent, type WebhookWithSecret } from '../../api/webhook-queries.ts'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { Checkbox, TextField } from '../../ui/form-fields.tsx'
import { webhooksText } from './text.ts'

/** Creates or edits a webhook. Only the response to a creation contains the secret. */
export function WebhookForm({
  webhook,
  onClose,
  onCreated = onClose,
}: {
  webhook?: Webhook
  onClose: () => void
  onCreated?: (created: WebhookWithSecret) => void
}) {
  const [url, setUrl] = useState(webhook?.url ?? '')
  const [events, setEvents] = useState<WebhookEvent[]>(webhook?.events ?? ['approval.requested', 'task.finished'])
  const save = useApiMutation(
    async () => {
      if (!webhook) return callOperation('createWebhook', { body: { url, events } })
      await callOperation('updateWebhook', { id: webhook.id, body: { url, events } })
      return null
    },
    { invalidates: ['webhooks'], onSuccess: (created) => (created ? onCreated(created) : onClose()) },
  )
  return (
    <FormDialog
      title={webhook ? webhooksText.editWebhook : webhooksText.newWebhook}
      submitLabel={webhook ? webhooksText.save : webhooksText.create}
      canSubmit={url.trim() !== '' && events.length > 0}
      mutation={save}
      onClose={onClose}
    >
      <TextField
        label={webhooksText.url}
        type="url"
        placeholder={webhooksText.urlExample}
        value={url}
        onChange={setUrl}
      />
      <EventCheckboxes events={events} onChange={setEvents} />
    </FormDialog>
  )
}

function EventCheckboxes({ events, onChange }: { events: WebhookEvent[]; onChange: (events: WebhookEvent[]) => void }) {
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-1.5 font-medium">{webhooksText.eventsLabel}</legend>
      {WEBHOOK_EVENTS.map((event) => {
        const others = events.filter((other) => other !== event)
        return (
          <Checkbox
            key={event}
            label={webhooksText.events[event]}
            checked={events.includes(event)}
            onChange={(on) => onChange(on ? [...others, event] : others)}
          />
        )
      })}
    </fieldset>
  )
}
