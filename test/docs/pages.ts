import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..')

/** The text of a file; the path is relative to the root of the repository. */
export const page = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

/** The paths of all documentation pages. */
export function pages(): string[] {
  const docs = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md'))
  return [
    'README.md',
    'CHANGELOG.md',
    'CONTRIBUTING.md',
    ...docs.map((name) => `docs/${name}`),
    'docs/screens/README.md',
  ]
}

/** The fenced blocks of a language, in order. */
export function blocks(text: string, language: string): string[] {
  return [...text.matchAll(/^ *```(\w*)\n([\s\S]*?)^ *```$/gm)]
    .filter(([, found]) => found === language)
    .map(([, , code = '']) => code)
}
