import type { Json, JsonObject } from '../../../platform/base/json.ts'
import type { Terminal } from './terminal.ts'

/** Prints rows in aligned columns, or the text `empty` if there are no rows. */
export function showTable(terminal: Terminal, heading: string[], rows: string[][], empty: string): void {
  if (rows.length === 0) return terminal.note(empty)
  const widths = heading.map((name, index) => Math.max(name.length, ...rows.map((row) => (row[index] ?? '').length)))
  const alignCells = (row: string[]) =>
    row
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd()
  terminal.print(terminal.styled('dim', alignCells(heading)))
  for (const row of rows) terminal.print(alignCells(row))
}

/** Returns a string unchanged, and any other value as JSON. */
export const toText = (value: Json | undefined) => (typeof value === 'string' ? value : JSON.stringify(value ?? null))

/** Returns a value as one line of at most `maxLength` characters. */
export function toShortText(value: Json | undefined, maxLength = 100): string {
  const text = toText(value).replaceAll(/\s+/g, ' ').trim()
  const shown = toPrintable(text)
  return shown.length > maxLength ? `${shown.slice(0, maxLength - 1)}…` : shown
}

/** Replaces control characters, because text from agents and clients must not control the terminal. */
export function toPrintable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]/gu, (character) =>
    character === '\n' || character === '\t' ? character : '�',
  )
}

/** Returns indented JSON in which control characters that JSON.stringify leaves unchanged are escaped too. */
export function toPrintableJson(value: Json | undefined): string {
  return JSON.stringify(value ?? null, null, 2).replaceAll(/[\x7f-\x9f\p{Cf}]/gu, (character) =>
    // Without the flag `u` a dot matches one UTF-16 unit, and JSON escapes each unit on its own.
    character.replaceAll(/./g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  )
}

/** The connection that an action uses, as the service reports it; empty if the action has none. */
export const throughConnection = ({ connection, connection_id }: JsonObject): string => {
  const name = connection ?? connection_id
  return name ? ` through ${toShortText(name)}` : ''
}

/** `2026-01-31T09:30:00.000Z` becomes `2026-01-31 09:30:00`. */
export const formatTime = (iso: Json | undefined) =>
  typeof iso === 'string' ? iso.slice(0, 19).replace('T', ' ') : '-'
