import { isJsonObject } from '../../base/json.ts'
import type { ChannelRow } from '../../store/tables.ts'
import type { AdapterChannel, ChannelAdapter } from './adapter.ts'

/** The services that carry messages, by the name that a channel has in its field `adapter`. */
export const CHANNEL_ADAPTERS: Record<string, ChannelAdapter> = {}

export const findAdapter = (name: string | null): ChannelAdapter | null =>
  name !== null && Object.hasOwn(CHANNEL_ADAPTERS, name) ? (CHANNEL_ADAPTERS[name] ?? null) : null

export function toAdapterChannel(channel: ChannelRow): AdapterChannel {
  const config: unknown = JSON.parse(channel.config)
  return { ...channel, config: isJsonObject(config) ? config : {} }
}
