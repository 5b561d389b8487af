import { basename, delimiter, dirname, relative, resolve } from 'node:path'

/** A text for a person; one that names commands is told how this command line was called. */
export type Advice = string | ((svc: string) => string)

export const advise = (advice: Advice, svc: string) => (typeof advice === 'string' ? advice : advice(svc))

/**
 * The command line as the person called it, so that advice can be copied. The script `svc` of a clone hands on its own
 * name, because Node sees only the program that the script starts.
 */
export function calledAs(env: Record<string, string | undefined>, program: string): string {
  const path = env.SVC_CALLED_AS || program
  const folder = dirname(resolve(path))
  // npx puts this folder into the PATH of what it starts; the shell that it was called from has another.
  if (folder.endsWith('node_modules/.bin')) return `npx ${basename(path)}`
  if ((env.PATH ?? '').split(delimiter).includes(folder)) return basename(path)
  if (env.SVC_CALLED_AS) return quoted(env.SVC_CALLED_AS)
  return path.endsWith('.mjs') ? `node ${fromHere(path)}` : fromHere(path)
}

function fromHere(path: string): string {
  const way = relative('', path)
  if (way.startsWith('..')) return quoted(path)
  return quoted(way.includes('/') ? way : `./${way}`)
}

/** A word as a shell takes it for one. */
export const quoted = (word: string) =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
