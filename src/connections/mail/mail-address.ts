/** A mailbox: `Kim Doe <kim@example.com>`, or only the address. */
export interface MailAddress {
  name: string
  address: string
}

const MAX_ADDRESS_CHARACTERS = 254
const LOCAL_PART = /^[^\s@"<>(),:;\\[\]\p{C}]{1,64}$/u
const DOMAIN =
  /^(?=.{1,253}$)[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?(?:\.[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?)*$/u

/** Null for text that is not exactly one mailbox, such as a list with commas or a name with a line break. */
export function parseMailAddress(text: string): MailAddress | null {
  if (/\p{C}/u.test(text)) return null
  const [, name = '', bracketed, bare] = /^(?:([^<>]*)<([^<>]*)>|([^<>]*))$/s.exec(text.trim()) ?? []
  const address = (bracketed ?? bare ?? '').trim()
  const plainName = unquote(name.trim())
  if (plainName === null || !isMailAddress(address)) return null
  return { name: plainName, address }
}

/** The mailbox as a header or a mail API shows it. A name with special characters is quoted. */
export function formatMailAddress({ name, address }: MailAddress): string {
  if (name === '') return address
  const isPlain = /^[\p{L}\p{N} !#$%&'*+/=?^_`{|}~-]+$/u.test(name)
  return `${isPlain ? name : `"${name.replaceAll(/["\\]/g, '\\$&')}"`} <${address}>`
}

export const mailDomain = ({ address }: MailAddress): string => address.slice(address.lastIndexOf('@') + 1)

function isMailAddress(address: string): boolean {
  const at = address.lastIndexOf('@')
  if (at < 1 || address.length > MAX_ADDRESS_CHARACTERS) return false
  return LOCAL_PART.test(address.slice(0, at)) && DOMAIN.test(address.slice(at + 1))
}

/** The name without its quotes; null if it contains a comma or a quote that is not quoted. */
function unquote(name: string): string | null {
  const [, quoted] = /^"((?:[^"\\]|\\.)*)"$/.exec(name) ?? []
  if (quoted !== undefined) return quoted.replaceAll(/\\(.)/g, '$1').trim()
  return /[",;]/.test(name) ? null : name
}
