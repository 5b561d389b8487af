import { useQuery } from '@tanstack/react-query'
import { type Channel, channelAdaptersQuery } from '../../api/client-queries.ts'
import { callOperation, toCurl } from '../../api/http.ts'
import { toText } from '../../api/json.ts'
import { Button } from '../../ui/button.tsx'
import { CopyRow } from '../../ui/copy-row.tsx'
import { CurlExample } from '../../ui/curl-example.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { RequireRole } from '../../ui/role.tsx'
import { SecretForm } from '../../ui/secret-form.tsx'
import { adapterSteps } from './adapter-text.ts'
import { channelsText } from './text.ts'

/** How messages get from the provider to the service: the steps, the address to register, and the secret. */
export function ChannelSetup({
  channel,
  onEdit,
  onClose,
}: {
  channel: Channel
  onEdit: () => void
  onClose: () => void
}) {
  const { adapter, address } = channel
  const title = channelsText.setupFor(address)
  const steps = adapter === null ? channelsText.setupSteps : (adapterSteps[adapter] ?? channelsText.otherSteps)
  return (
    <Dialog label={title} onClose={onClose} className="max-w-xl">
      <div className="flex flex-col gap-4 p-5">
        <h2 className="text-base font-semibold break-words">{title}</h2>
        <ol className="flex list-decimal flex-col gap-1 pl-5">
          {steps.map((step) => (
            <li key={step}>{step}</li>
          ))}
        </ol>
        {adapter === 'widget' && <AllowedWebsites channel={channel} onEdit={onEdit} />}
        {adapter === null ? <InboundExample channelId={channel.id} /> : <AdapterSetup channel={channel} />}
        <Button variant="primary" className="self-end" onClick={onClose}>
          {channelsText.done}
        </Button>
      </div>
    </Dialog>
  )
}

/** The websites on which the chat widget works. */
function AllowedWebsites({ channel: { config }, onEdit }: { channel: Channel; onEdit: () => void }) {
  const origins = [config['origins'] ?? []].flat().map(toText)
  return (
    <p className="flex flex-wrap items-center gap-2">
      <span>
        {channelsText.allowedWebsites} {origins.map((origin) => origin.replace(/^https:\/\//, '')).join(', ')}
      </span>
      <RequireRole minRole="admin">
        <Button small onClick={onEdit}>
          {channelsText.change}
        </Button>
      </RequireRole>
    </p>
  )
}

/** The request that the founder's own server sends for each message. */
function InboundExample({ channelId }: { channelId: string }) {
  const body = {
    from: { handle: 'grace@example.com', name: 'Grace' },
    subject: channelsText.exampleSubject,
    body: channelsText.exampleBody,
    external_id: channelsText.exampleExternalId,
  }
  return <CurlExample label={channelsText.setupRequest} text={toCurl('receiveMessage', { id: channelId, body })} />
}

function AdapterSetup({ channel }: { channel: Channel }) {
  const { id, adapter, hook_url, has_secret } = channel
  const { data: adapters } = useQuery(channelAdaptersQuery)
  const secret = adapters?.find((one) => one.adapter === adapter)?.secret
  return (
    <>
      {adapter === 'widget' && <CopyRow label={channelsText.scriptTag} text={scriptTag(id)} />}
      {hook_url && adapter !== 'widget' && <CopyRow label={channelsText.hookUrl} text={hook_url} />}
      {secret && (
        <RequireRole minRole="admin">
          <SecretForm
            onSave={(value) => callOperation('setChannelSecret', { id, body: { value } })}
            invalidates={['channels']}
            what={secret}
            hasSecret={has_secret}
          />
        </RequireRole>
      )}
    </>
  )
}

const scriptTag = (id: string) => `<script src="${location.origin}/widget.js" data-channel="${id}" async></script>`
