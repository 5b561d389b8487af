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

/** The names of icons come from their library; the code imports them under other names. */
const ICON_IMPORT = /^import \{[^}]*\} from 'lucide-react'$/gm

/** Every banned word of the files, one per line, as `file:line: word`. */
export function bannedWords(files: Map<string, string>): string[] {
  return [...files].flatMap(([file, text]) =>
    linesWith(text.replaceAll(ICON_IMPORT, withoutText), PATTERN).map(
      ([line, word]) => `${file}:${line}: '${word}' is a banned word (test/banned-words.ts)`,
    ),
  )
}

/** Keeps the line breaks, so that later lines keep their numbers. */
const withoutText = (code: string) => code.replaceAll(/./g, '')
