import type { Channel } from '../../api/client-queries.ts'
import { toCurl } from '../../api/http.ts'
import { Button } from '../../ui/button.tsx'
import { CurlExample } from '../../ui/curl-example.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { channelsText } from './text.ts'

/** Explains how a message gets from a mail or chat provider to the service, which receives no mail itself. */
export function ChannelSetup({ channel: { id, address }, onClose }: { channel: Channel; onClose: () => void }) {
  const body = {
    from: { handle: 'grace@example.com', name: 'Grace' },
    subject: channelsText.exampleSubject,
    body: channelsText.exampleBody,
    external_id: channelsText.exampleExternalId,
  }
  const title = channelsText.setupFor(address)
  return (
    <Dialog label={title} onClose={onClose} className="max-w-xl">
      <div className="flex flex-col gap-3 p-5">
        <h2 className="text-base font-semibold break-words">{title}</h2>
        <ol className="flex list-decimal flex-col gap-1 pl-5">
          {channelsText.setupSteps.map((step) => (
            <li key={step}>{step}</li>
          ))}
        </ol>
        <CurlExample
          label={channelsText.setupRequest}
          text={toCurl(`/v1/channels/${id}/inbound`, { method: 'POST', body })}
        />
        <Button variant="primary" className="self-end" onClick={onClose}>
          {channelsText.done}
        </Button>
      </div>
    </Dialog>
  )
}
