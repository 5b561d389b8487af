import { normalizeHandle } from '../../clients/handles.ts'
import { type MailAddress, mailDomain, parseMailAddress } from '../../../connections/mail/mail-address.ts'

/** Marks the token of a thread in an address: `help+t_<token>@example.com`. */
const TOKEN_MARK = '+t_'

/** The address for answers in a thread; null if the channel's address is not a mail address. */
export function makeReplyAddress(channelAddress: string, replyToken: string): MailAddress | null {
  const base = parseMailAddress(channelAddress)
  if (!base) return null
  const domain = mailDomain(base)
  const local = base.address.slice(0, -domain.length - 1)
  return parseMailAddress(`${local}${TOKEN_MARK}${replyToken}@${domain}`)
}

/** The token in one of the addresses that a mail was sent to. Case stays, because tokens have both. */
export function findReplyToken(recipients: readonly string[]): string | null {
  for (const recipient of recipients) {
    const [, token] = /\+t_([A-Za-z0-9_-]{8,64})@[^@\s]+$/.exec(recipient) ?? []
    if (token) return token
  }
  return null
}

/** Whether the address is the channel's own, with or without a part after a `+`. */
export function isChannelAddress(channelAddress: string, address: string): boolean {
  const own = parseMailAddress(channelAddress)?.address ?? channelAddress
  return withoutTag(own) === withoutTag(address)
}

const withoutTag = (address: string): string => normalizeHandle(address).replace(/\+[^@]*(?=@)/, '')
