import { useState } from 'react'
import { call } from '../../api/http.ts'
import { type Notice, NOTICE_WORDS, NOTICES, type Webhook, type WithSecret } from '../../api/webhooks.ts'
import { useWrite } from '../../api/write.ts'
import { Check, Text } from '../../ui/form.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'

/** A secret comes only with a new one. */
export function WebhookForm({
  webhook,
  onClose,
  onMade = onClose,
}: {
  webhook?: Webhook
  onClose: () => void
  onMade?: (made: WithSecret) => void
}) {
  const [url, setUrl] = useState(webhook?.url ?? '')
  const [events, setEvents] = useState<Notice[]>(webhook?.events ?? ['approval.requested', 'task.finished'])
  const save = useWrite(
    () =>
      call<WithSecret>(webhook ? `/v1/webhooks/${webhook.id}` : '/v1/webhooks', {
        method: webhook ? 'PUT' : 'POST',
        body: { url, events },
      }),
    { stale: ['webhooks'], onDone: onMade },
  )
  return (
    <FormDialog
      title={webhook ? 'Change the webhook' : 'New webhook'}
      submit="Save"
      ready={url.trim() !== '' && events.length > 0}
      write={save}
      onClose={onClose}
    >
      <Text label="Address" type="url" placeholder="https://hooks.example.com/svc" value={url} onChange={setUrl} />
      <EventChecks events={events} onChange={setEvents} />
    </FormDialog>
  )
}

function EventChecks({ events, onChange }: { events: Notice[]; onChange: (events: Notice[]) => void }) {
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-1.5 font-medium">Tell when</legend>
      {NOTICES.map((notice) => {
        const others = events.filter((one) => one !== notice)
        return (
          <Check
            key={notice}
            label={NOTICE_WORDS[notice]}
            checked={events.includes(notice)}
            onChange={(on) => onChange(on ? [...others, notice] : others)}
          />
        )
      })}
    </fieldset>
  )
}
