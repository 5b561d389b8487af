/** Enough to tell two texts apart. Texts of a megabyte are compared as fast as short ones. */
const MAX_COMPARED = 500

/** The text without what mail programs change in a subject: line breaks, upper case, "Re:" and a cut at the end. */
export const toComparable = (text: string): string =>
  text
    .slice(0, MAX_COMPARED)
    .replaceAll(/\s+/g, ' ')
    .trim()
    .toLowerCase()
    .replace(/^(?:(?:re|aw|wg|fwd?) ?: ?)+/, '')
    .replace(/ ?(?:…|\.{3})$/, '')

/** Whether a comparable text is repeated by the beginning of a longer one. Numbers and single letters are no repetition. */
export const isBeginningOf = (text: string, longer: string): boolean =>
  text.length > 1 && longer.startsWith(text) && /\D/.test(text)

/** The title of a conversation without a subject is the beginning of its first message. */
export const isTitleOf = (title: string, message: string): boolean =>
  isBeginningOf(toComparable(title), toComparable(message))
