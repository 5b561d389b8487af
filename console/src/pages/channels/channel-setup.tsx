import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type Channel, channelAdaptersQuery } from '../../api/client-queries.ts'
import { callApi, toCurl } from '../../api/http.ts'
import { useApiMutation } from '../../api/mutation.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { CurlExample } from '../../ui/curl-example.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/form-fields.tsx'
import { capitalize } from '../../ui/humanize.ts'
import { RequireRole } from '../../ui/role.tsx'
import { showToast } from '../../ui/toast.tsx'
import { adapterSteps } from './adapter-text.ts'
import { channelsText } from './text.ts'

/** How messages get from the provider to the service: the steps, the address to register, and the secret. */
export function ChannelSetup({ channel, onClose }: { channel: Channel; onClose: () => void }) {
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
        {adapter === null ? <InboundExample channelId={channel.id} /> : <AdapterSetup channel={channel} />}
        <Button variant="primary" className="self-end" onClick={onClose}>
          {channelsText.done}
        </Button>
      </div>
    </Dialog>
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
  return (
    <CurlExample
      label={channelsText.setupRequest}
      text={toCurl(`/v1/channels/${channelId}/inbound`, { method: 'POST', body })}
    />
  )
}

function AdapterSetup({ channel }: { channel: Channel }) {
  const { id, adapter, hook_url } = channel
  const { data: adapters } = useQuery(channelAdaptersQuery)
  const secret = adapters?.find((one) => one.adapter === adapter)?.secret
  return (
    <>
      {adapter === 'widget' && <CopyRow label={channelsText.scriptTag} text={scriptTag(id)} />}
      {hook_url && adapter !== 'widget' && <CopyRow label={channelsText.hookUrl} text={hook_url} />}
      {secret && (
        <RequireRole minRole="admin">
          <SecretForm channel={channel} what={secret} />
        </RequireRole>
      )}
    </>
  )
}

const scriptTag = (id: string) => `<script src="${location.origin}/widget.js" data-channel="${id}" async></script>`

function CopyRow({ label, text }: { label: string; text: string }) {
  return (
    <section className="flex flex-col gap-1">
      <h3 className="font-medium">{label}</h3>
      <div className="flex items-start gap-2 rounded-md bg-sunken p-2">
        <code className="min-w-0 grow font-mono text-xs leading-7 break-all">{text}</code>
        <CopyButton text={() => text} />
      </div>
    </section>
  )
}

/** The secret is stored encrypted and never shown again. */
function SecretForm({ channel: { id, has_secret }, what }: { channel: Channel; what: string }) {
  const [value, setValue] = useState('')
  const save = useApiMutation(() => callApi(`/v1/channels/${id}/secret`, { method: 'POST', body: { value } }), {
    invalidates: ['channels'],
    onSuccess: () => {
      setValue('')
      showToast(channelsText.secretSaved)
    },
  })
  return (
    <form className="flex items-end gap-2 *:first:grow" onSubmit={(event) => (event.preventDefault(), save.mutate())}>
      <TextField
        label={channelsText.secret}
        hint={`${capitalize(what)}.`}
        type="password"
        autoComplete="off"
        placeholder={has_secret ? channelsText.secretStored : ''}
        value={value}
        onChange={setValue}
      />
      <Button type="submit" className="mb-5.5" disabled={value === '' || save.isPending}>
        {channelsText.saveSecret}
      </Button>
    </form>
  )
}
