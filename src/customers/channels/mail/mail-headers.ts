/** The headers of a mail in their order. Names are in lower case, values are unfolded. */
export type MailHeaders = readonly { name: string; value: string }[]

/** The first header of this name; null if there is none. */
export const findHeader = (headers: MailHeaders, name: string): string | null =>
  headers.find((header) => header.name === name)?.value ?? null

export const findHeaders = (headers: MailHeaders, name: string): string[] =>
  headers.filter((header) => header.name === name).map(({ value }) => value)

const MAX_REFERENCES_CHARACTERS = 800

/** The References of an answer: the first mail and as many of the newest ones as one header line can have. */
export function joinReferences(ids: readonly string[]): string {
  const [first = '', ...others] = new Set(ids)
  const newest: string[] = []
  let size = first.length
  for (const id of others.toReversed()) {
    size += id.length + 1
    if (size > MAX_REFERENCES_CHARACTERS) break
    newest.unshift(id)
  }
  return [first, ...newest].join(' ')
}

const MAX_MESSAGE_IDS = 100

/** The ids such as `<a@b>` in Message-ID, In-Reply-To or References. */
export const parseMessageIds = (value: string | null): string[] =>
  (value ?? '').match(/<[^<>\s\p{C}]{1,500}@[^<>\s\p{C}]{1,255}>/gu)?.slice(-MAX_MESSAGE_IDS) ?? []
