import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..')

/** The text of a file; the path is relative to the root of the repository. */
export const page = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

/** The paths of all documentation pages. */
export function pages(): string[] {
  return [
    'README.md',
    'CHANGELOG.md',
    'CONTRIBUTING.md',
    ...pagesIn('docs'),
    ...pagesIn('docs/frameworks'),
    'docs/screens/README.md',
  ]
}

/** The paths of the pages in one folder. */
export const pagesIn = (folder: string): string[] =>
  readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`)

/** The relative links of a page, with the headings after `#`. */
export const relativeLinks = (path: string): string[] =>
  [...page(path).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target).filter((to) => !/^[a-z]+:/.test(to))

/** The paths of the files to which a page links. */
export const linkedFiles = (path: string): string[] =>
  relativeLinks(path)
    .map((target) => target.split('#')[0] ?? '')
    .filter((file) => file !== '')
    .map((file) => join(dirname(path), file))

/** The fenced blocks of a language, in order. */
export function blocks(text: string, language: string): string[] {
  return [...text.matchAll(/^ *```(\w*)\n([\s\S]*?)^ *```$/gm)]
    .filter(([, found]) => found === language)
    .map(([, , code = '']) => code)
}
