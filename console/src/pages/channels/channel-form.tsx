import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { channelAdaptersQuery, type Channel, type ChannelAdapter } from '../../api/client-queries.ts'
import { callOperation } from '../../api/http.ts'
import { useApiMutation } from '../../api/mutation.ts'
import { wedgesQuery } from '../../api/queries.ts'
import type { JsonObject } from '../../api/types.ts'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { Select, TextField } from '../../ui/form-fields.tsx'
import { humanize } from '../../ui/humanize.ts'
import { InputFields } from '../../ui/input-fields.tsx'
import { fieldsOfSchema } from '../../ui/schema-fields.ts'
import { useDeclaredInput } from '../run/task-input.tsx'
import { TaskTypeFields, useTaskType } from '../wedges/task-type-fields.tsx'
import { adapterAddresses, adapterNames, ownServerAddress } from './adapter-text.ts'
import { ReplyConnectionField, useReplyConnections } from './reply-connection.tsx'
import { answersMessages, lacksReply, MESSAGE_FIELDS } from './takes-messages.ts'
import { channelsText } from './text.ts'

interface ChannelFields {
  adapter: string
  address: string
  connection_id: string
  config: JsonObject
  settle_s: string
}

/** Creates a channel, or changes one: the service that carries the messages, its settings, and the task they start. */
export function ChannelForm({
  channel,
  onClose,
  onSaved,
}: {
  channel?: Channel
  onClose: () => void
  onSaved: (channel: Channel) => void
}) {
  const { data: adapters = [] } = useQuery(channelAdaptersQuery)
  const [fields, setFields] = useState<ChannelFields>(() => fieldsOf(channel))
  const chosen = useTaskType(channel, answersMessages)
  const { adapter, address, config } = fields
  const change = (changes: Partial<ChannelFields>) => setFields({ ...fields, ...changes })
  const service = adapters.find((one) => one.adapter === adapter) ?? null
  const { wedge, task_type } = chosen
  const connections = useReplyConnections(service, wedge)
  const connection_id = fields.connection_id || connections.suggested
  const save = useSaveChannel(channel, { ...fields, connection_id, wedge, task_type }, onSaved)
  return (
    <FormDialog
      title={channel ? channelsText.editChannel : channelsText.newChannel}
      submitLabel={channel ? channelsText.save : channelsText.create}
      canSubmit={address.trim() !== '' && connection_id !== '' && task_type !== ''}
      mutation={save}
      onClose={onClose}
    >
      <AdapterSelect
        adapters={adapters}
        value={adapter}
        onChange={(to) => change({ adapter: to, config: {}, connection_id: '' })}
      />
      <AddressField adapter={adapter} value={address} onChange={(to) => change({ address: to })} />
      <InputFields
        key={adapter}
        fields={fieldsOfSchema(service?.config_schema ?? {})}
        input={config}
        onChange={(to) => change({ config: to })}
      />
      <TaskTypeFields chosen={chosen} />
      <MissingFields wedge={wedge} taskType={task_type} />
      <MissingReply wedge={wedge} taskType={task_type} />
      <ReplyConnectionField
        service={service}
        connections={connections}
        value={connection_id}
        onChange={(to) => change({ connection_id: to })}
      />
      <TextField
        label={channelsText.settle}
        hint={channelsText.settleHint}
        type="number"
        min={0}
        max={3600}
        value={fields.settle_s}
        onChange={(to) => change({ settle_s: to })}
      />
    </FormDialog>
  )
}

function AddressField({
  adapter,
  value,
  onChange,
}: {
  adapter: string
  value: string
  onChange: (address: string) => void
}) {
  const { label, hint, example } = adapterAddresses[adapter] ?? ownServerAddress
  return <TextField required label={label} hint={hint} placeholder={example} value={value} onChange={onChange} />
}

function useSaveChannel(
  channel: Channel | undefined,
  { adapter, config, settle_s, ...binding }: ChannelFields & { wedge: string; task_type: string },
  onSaved: (channel: Channel) => void,
) {
  const body = {
    ...binding,
    adapter: adapter || null,
    settle_s: Number(settle_s) || 0,
    ...(adapter && { config }),
  }
  return useApiMutation(
    () =>
      channel ? callOperation('updateChannel', { id: channel.id, body }) : callOperation('createChannel', { body }),
    { invalidates: ['channels'], onSuccess: onSaved },
  )
}

const fieldsOf = (channel: Channel | undefined): ChannelFields => ({
  adapter: channel?.adapter ?? '',
  address: channel?.address ?? '',
  connection_id: channel?.connection_id ?? '',
  config: channel?.config ?? {},
  settle_s: String(channel?.settle_s ?? 0),
})

function AdapterSelect({
  adapters,
  value,
  onChange,
}: {
  adapters: ChannelAdapter[]
  value: string
  onChange: (adapter: string) => void
}) {
  const options = adapters.map(({ adapter }): [string, string] => [adapter, adapterNames[adapter] ?? humanize(adapter)])
  return (
    <Select
      label={channelsText.adapter}
      value={value}
      options={[['', channelsText.ownServer], ...options]}
      onChange={onChange}
    />
  )
}

/** Warns about required fields of the task type that no message has. */
function MissingFields({ wedge, taskType }: { wedge: string; taskType: string }) {
  const missing = useDeclaredInput(wedge, taskType).fields.filter(
    ({ name, required }) => required && !MESSAGE_FIELDS.includes(name),
  )
  if (missing.length === 0) return null
  return (
    <p role="status" className="-mt-2 text-xs text-wait">
      {channelsText.missingFields(
        MESSAGE_FIELDS,
        missing.map(({ name }) => name),
      )}
    </p>
  )
}

/** Warns about a task type that never answers, because the client would wait. */
function MissingReply({ wedge, taskType }: { wedge: string; taskType: string }) {
  const { data: wedges = [] } = useQuery(wedgesQuery)
  const type = wedges.find((one) => one.wedge === wedge)?.manifest.task_types[taskType]
  if (!type || !lacksReply(type)) return null
  return (
    <p role="status" className="-mt-2 text-xs text-wait">
      {channelsText.missingReply}
    </p>
  )
}
