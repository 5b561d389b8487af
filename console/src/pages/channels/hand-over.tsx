import type { Channel } from '../../api/client-queries.ts'
import { toCurl } from '../../api/http.ts'
import { Button } from '../../ui/button.tsx'
import { CurlExample } from '../../ui/curl-example.tsx'
import { Dialog } from '../../ui/dialog.tsx'

/** How what arrives at an address gets here: the service is not a mail server, so somebody hands it over. */
export function HandOver({ channel: { id, address }, onClose }: { channel: Channel; onClose: () => void }) {
  const body = {
    from: { handle: 'grace@example.com', name: 'Grace' },
    subject: 'Locked out',
    body: 'I cannot log in.',
    external_id: 'the provider’s id of the message',
  }
  const title = `How messages to ${address} get here`
  return (
    <Dialog label={title} onClose={onClose} className="max-w-xl">
      <div className="flex flex-col gap-3 p-5">
        <h2 className="text-base font-semibold break-words">{title}</h2>
        <ol className="flex list-decimal flex-col gap-1 pl-5">
          <li>Let your mail or chat provider call your server when something arrives.</li>
          <li>Check there who sent it: the service believes what it is told.</li>
          <li>Hand it over with this call. The same external_id twice is one message.</li>
        </ol>
        <CurlExample label="The call" text={toCurl(`/v1/channels/${id}/inbound`, { method: 'POST', body })} />
        <Button variant="primary" className="self-end" onClick={onClose}>
          Got it
        </Button>
      </div>
    </Dialog>
  )
}
