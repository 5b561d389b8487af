import { basename, delimiter, dirname, relative, resolve } from 'node:path'

/** A text for a person; one that names commands is told how this command line was called. */
export type Advice = string | ((svc: string) => string)

export const adviceText = (advice: Advice, svc: string) => (typeof advice === 'string' ? advice : advice(svc))

/**
 * The command line as the person called it, so that advice can be copied. The script `svc` of a clone hands on its own
 * name, because Node sees only the program that the script starts.
 */
export function programName(env: Record<string, string | undefined>, program: string): string {
  const path = env.SVC_CALLED_AS || program
  const folder = dirname(resolve(path))
  // npx puts this folder into the PATH of what it starts; the shell that it was called from has another.
  if (folder.endsWith('node_modules/.bin')) return `npx ${basename(path)}`
  if ((env.PATH ?? '').split(delimiter).includes(folder)) return basename(path)
  if (env.SVC_CALLED_AS) return quoteForShell(env.SVC_CALLED_AS)
  return path.endsWith('.mjs') ? `node ${relativePath(path)}` : relativePath(path)
}

function relativePath(path: string): string {
  const way = relative('', path)
  if (way.startsWith('..')) return quoteForShell(path)
  return quoteForShell(way.includes('/') ? way : `./${way}`)
}

/** A word as a shell takes it for one. */
export const quoteForShell = (word: string) =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
