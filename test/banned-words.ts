import { linesWith } from './layout.ts'

/** Phrases that hide the actor of a sentence, and a prefix that has a common synonym. */
const PHRASES = ['whoever', 'anew', 'of late', 'nobody is told', 'also those', 'MOST_', 'LONGEST_']

/** Metaphors for things that have a common name: module, server, notification, library, batch, heartbeat, orphan … */
const METAPHORS = ['house', 'door', 'bell', 'shelf', 'glance', 'lane', 'pulse', 'farewell', 'stray', 'unhear']

const PATTERN = new RegExp(
  [...PHRASES.map(phrasePattern), ...METAPHORS.map(wordPattern), '(?<![A-Za-z])[Ss]helves(?![a-z])'].join('|'),
)

/** A phrase at any place of a sentence; a prefix in capitals also inside of a name. */
function phrasePattern(phrase: string): string {
  if (phrase.endsWith('_')) return `(?<![A-Z])${phrase}`
  const [first = '', ...rest] = phrase
  return `(?<![A-Za-z])[${first.toUpperCase()}${first}]${rest.join('')}(?![a-z])`
}

/** The word alone, in the plural, and as a part of a name such as `metricsDoor` or `door_open`. */
function wordPattern(word: string): string {
  const [first = '', ...rest] = word
  const end = rest.join('')
  return `(?:(?<![A-Za-z])${first}|${first.toUpperCase()})${end}s?(?![a-z])|(?<![A-Z])${word.toUpperCase()}S?(?![A-Z])`
}

/** A column that existing databases have under this name, and the files with its SQL. */
const STORED_COLUMN = 'shelf'
const STORED_COLUMN_FILES = /^src\/(?:store\/(?:tables|schema\/initial-schema)|records\/filter\/\w+-rows)\.ts$/

const isStoredColumn = (file: string, word: string) => word === STORED_COLUMN && STORED_COLUMN_FILES.test(file)

/** Every banned word of the files, one per line, as `file:line: word`. */
export function bannedWords(files: Map<string, string>): string[] {
  return [...files].flatMap(([file, text]) =>
    linesWith(text, PATTERN)
      .filter(([, word]) => !isStoredColumn(file, word))
      .map(([line, word]) => `${file}:${line}: '${word}' is a banned word (test/banned-words.ts)`),
  )
}
