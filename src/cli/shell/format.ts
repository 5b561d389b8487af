import type { Json, JsonObject } from '../../base/json.ts'
import type { Terminal } from './terminal.ts'

/** Rows under a heading, in columns as wide as their widest cell; or nothing but a word that there are none. */
export function showTable(terminal: Terminal, heading: string[], rows: string[][], none: string): void {
  if (rows.length === 0) return terminal.note(none)
  const widths = heading.map((name, at) => Math.max(name.length, ...rows.map((row) => (row[at] ?? '').length)))
  const aligned = (row: string[]) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd()
  terminal.print(terminal.styled('dim', aligned(heading)))
  for (const row of rows) terminal.print(aligned(row))
}

/** A string as it is, anything else as JSON. */
export const toText = (value: Json | undefined) => (typeof value === 'string' ? value : JSON.stringify(value ?? null))

/** A value on one line, cut where it would fill the screen. */
export function toShortText(value: Json | undefined, most = 100): string {
  const text = toText(value).replaceAll(/\s+/g, ' ').trim()
  const shown = toPrintable(text)
  return shown.length > most ? `${shown.slice(0, most - 1)}…` : shown
}

/** What agents and strangers wrote must not move the cursor or recolour the screen. */
export function toPrintable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]/gu, (character) =>
    character === '\n' || character === '\t' ? character : '�',
  )
}

/** The same for a value that stays JSON, of which JSON itself escapes only some: the rest is escaped as JSON would. */
export function toPrintableJson(value: Json | undefined): string {
  return JSON.stringify(value ?? null, null, 2).replaceAll(/[\x7f-\x9f\p{Cf}]/gu, (character) =>
    // Without the flag `u` a dot is half of a character that JSON writes as two numbers.
    character.replaceAll(/./g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  )
}

/** The way of an action, where it has one: the service's word, and not the agent's. */
export const throughConnection = ({ connection, connection_id }: JsonObject): string => {
  const way = connection ?? connection_id
  return way ? ` through ${toShortText(way)}` : ''
}

/** `2026-01-31T09:30:00.000Z` as people read it. */
export const formatTime = (iso: Json | undefined) =>
  typeof iso === 'string' ? iso.slice(0, 19).replace('T', ' ') : '-'
