import { basename, delimiter, dirname, relative, resolve } from 'node:path'

/** A hint for the user. A hint that contains commands is a function of the program name. */
export type Advice = string | ((svc: string) => string)

export const adviceText = (advice: Advice, svc: string) => (typeof advice === 'string' ? advice : advice(svc))

/**
 * The command as the user typed it, so that hints can be copied. The script `svc` of a clone passes its name in
 * SVC_CALLED_AS, because Node sees only the file that the script starts.
 */
export function programName(env: Record<string, string | undefined>, programPath: string): string {
  const path = env.SVC_CALLED_AS || programPath
  const folder = dirname(resolve(path))
  // npx adds this folder to the PATH of the program that it starts, but the user's shell does not have it.
  if (folder.endsWith('node_modules/.bin')) return `npx ${basename(path)}`
  if ((env.PATH ?? '').split(delimiter).includes(folder)) return basename(path)
  if (env.SVC_CALLED_AS) return quoteForShell(env.SVC_CALLED_AS)
  return path.endsWith('.mjs') ? `node ${relativePath(path)}` : relativePath(path)
}

function relativePath(path: string): string {
  const fromHere = relative('', path)
  if (fromHere.startsWith('..')) return quoteForShell(path)
  return quoteForShell(fromHere.includes('/') ? fromHere : `./${fromHere}`)
}

/** Quotes a word if a shell would split or expand it. */
export const quoteForShell = (word: string) =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
