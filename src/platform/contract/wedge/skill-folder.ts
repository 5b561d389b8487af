import { lstat, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCode, errorMessage, isOutOfFileHandles } from '../../base/error-message.ts'
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts'
import { textField } from '../../base/json-fields.ts'
import type { FileProblem } from './wedge-manifest.ts'

/** A skill as a folder, in the format of the Agent Skills specification: `skills/<name>/SKILL.md` and further files. */
export interface SkillFolder {
  name: string
  /** What the skill is for and when to use it. The agent reads the rest only when it needs it. */
  description: string
  /** The text of `SKILL.md` below its front matter. */
  content: string
  files: SkillFile[]
}

export interface SkillFile {
  /** Relative to the folder of the skill, such as `references/prices.md`. */
  path: string
  bytes: Buffer
  isExecutable: boolean
}

export type SkillReadResult = { skill: SkillFolder } | { problems: FileProblem[] }

export const SKILL_FILE_NAME = 'SKILL.md'

/** Letters, digits and single hyphens, as the specification says. */
const SKILL_NAME = /^(?=.{1,64}$)[a-z0-9]+(?:-[a-z0-9]+)*$/
const MAX_DESCRIPTION_CHARS = 1024
const MAX_FILES = 200
const MAX_FILE_BYTES = 1024 * 1024
const MAX_FOLDER_BYTES = 8 * 1024 * 1024
const MAX_DEPTH = 8

/** Installed packages and compiled files are no part of a skill. */
const SKIPPED_FOLDERS = ['node_modules', '__pycache__']

/** A file of the skill cannot be used. Its path is relative to the wedge and begins the message. */
class SkillProblem extends Error {
  readonly problem: FileProblem

  constructor(file: string, what: string, line = 1) {
    const message = `${file} ${what}`
    super(message)
    this.problem = { file, line, message }
  }
}

/** The folders in `skills/`, and whether each has a `SKILL.md`. Links to folders are listed, too: reading them says why they are refused. */
export async function listSkillFolders(wedgeDir: string): Promise<{ name: string; hasSkillFile: boolean }[]> {
  const names = await readdir(join(wedgeDir, 'skills')).catch((error: unknown) => {
    if (isOutOfFileHandles(error)) throw error
    return []
  })
  const found = names
    .filter((name) => !name.startsWith('.'))
    .toSorted()
    .map(async (name) => {
      if (!(await isSkillFolder(wedgeDir, name))) return []
      const file = await lstat(join(wedgeDir, 'skills', name, SKILL_FILE_NAME)).catch(() => null)
      return [{ name, hasSkillFile: file !== null }]
    })
  return (await Promise.all(found)).flat()
}

export async function isSkillFolder(wedgeDir: string, name: string): Promise<boolean> {
  const found = await stat(join(wedgeDir, 'skills', name)).catch(() => null)
  return found?.isDirectory() ?? false
}

/** Reads all files of a skill at once, so that a run keeps the files that it started with. */
export async function readSkillFolder(wedgeDir: string, name: string): Promise<SkillReadResult> {
  const folder = `skills/${name}`
  try {
    if (!SKILL_NAME.test(name)) {
      const allowed = 'must have a name of at most 64 letters a-z, digits and single hyphens, such as refund-rules'
      throw new SkillProblem(folder, allowed)
    }
    if (await lstat(join(wedgeDir, `${folder}.md`)).catch(() => null))
      throw new SkillProblem(folder, `has the same name as ${folder}.md; remove one of them`)
    const files = await readFiles(wedgeDir, folder)
    const main = files.find(({ path }) => path === SKILL_FILE_NAME)
    if (!main) throw new SkillProblem(folder, `has no file ${SKILL_FILE_NAME}`)
    const parsed = await parseSkillFile(`${folder}/${SKILL_FILE_NAME}`, name, main.bytes)
    return 'problems' in parsed ? parsed : { skill: { name, ...parsed, files } }
  } catch (error) {
    if (error instanceof SkillProblem) return { problems: [error.problem] }
    throw error
  }
}

/** The text of a file, or null if it is not UTF-8 text. */
export function readSkillText(bytes: Buffer): string | null {
  try {
    return bytes.includes(0) ? null : new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}

async function readFiles(wedgeDir: string, folder: string): Promise<SkillFile[]> {
  const paths = await listSkillPaths(wedgeDir, folder)
  const files: SkillFile[] = []
  let bytes = 0
  for (const path of paths) {
    const file = await readSkillFile(wedgeDir, folder, path)
    bytes += file.bytes.length
    if (bytes > MAX_FOLDER_BYTES) throw new SkillProblem(folder, 'has files of more than 8 MiB in total')
    files.push(file)
  }
  return files
}

async function readSkillFile(wedgeDir: string, folder: string, path: string): Promise<SkillFile> {
  const shown = `${folder}/${path}`
  const full = join(wedgeDir, shown)
  try {
    const { size, mode } = await lstat(full)
    if (size > MAX_FILE_BYTES) throw new SkillProblem(shown, 'has more than 1 MiB')
    return { path, bytes: await readFile(full), isExecutable: (mode & 0o100) !== 0 }
  } catch (error) {
    throw toSkillProblem(shown, error)
  }
}

/** The paths of all files below the folder, in order. Follows no links: they may leave the folder. */
async function listSkillPaths(wedgeDir: string, folder: string): Promise<string[]> {
  await requireFolder(wedgeDir, folder)
  const found: string[] = []
  const folders = [{ prefix: '', depth: 1 }]
  for (let next = folders.pop(); next; next = folders.pop()) {
    const { prefix, depth } = next
    for (const entry of await listEntries(wedgeDir, join(folder, prefix))) {
      const path = prefix + entry.name
      if (entry.isDirectory()) {
        if (SKIPPED_FOLDERS.includes(entry.name)) continue
        if (depth === MAX_DEPTH) throw new SkillProblem(`${folder}/${path}`, `is more than ${MAX_DEPTH} folders deep`)
        folders.push({ prefix: `${path}/`, depth: depth + 1 })
      } else if (entry.isFile()) found.push(path)
      else throw new SkillProblem(`${folder}/${path}`, 'is a link or a special file; a skill may contain only files')
    }
    if (found.length > MAX_FILES) throw new SkillProblem(folder, `has more than ${MAX_FILES} files`)
  }
  return found.toSorted()
}

async function requireFolder(wedgeDir: string, folder: string): Promise<void> {
  for (const path of ['skills', folder]) {
    const found = await lstat(join(wedgeDir, path)).catch((error: unknown) => {
      throw toSkillProblem(path, error)
    })
    if (found.isSymbolicLink()) throw new SkillProblem(path, 'is a link; copy the folder to this place instead')
  }
}

async function listEntries(wedgeDir: string, folder: string) {
  try {
    const entries = await readdir(join(wedgeDir, folder), { withFileTypes: true })
    return entries.filter(({ name }) => !name.startsWith('.'))
  } catch (error) {
    throw toSkillProblem(folder, error)
  }
}

/** Too many open files are not a problem of the skill, so that error is thrown on. */
function toSkillProblem(path: string, error: unknown): unknown {
  const code = errorCode(error)
  if (code === '' || isOutOfFileHandles(error)) return error
  return new SkillProblem(path, code === 'ENOENT' ? 'is missing' : `cannot be read: ${code}`)
}

const FRONT_MATTER = /^---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/

type SkillText = Pick<SkillFolder, 'description' | 'content'>

async function parseSkillFile(
  file: string,
  folderName: string,
  bytes: Buffer,
): Promise<SkillText | { problems: FileProblem[] }> {
  const text = readSkillText(bytes)
  if (text === null) throw new SkillProblem(file, 'is not UTF-8 text')
  const [head, yaml = ''] = FRONT_MATTER.exec(text) ?? []
  if (head === undefined)
    throw new SkillProblem(file, 'must begin with front matter: a line ---, its name and description, and a line ---')
  const fields = await parseFrontMatter(file, yaml)
  const problems = findFieldProblems(fields, folderName).map(({ field, message }) => ({
    file,
    line: lineOfField(yaml, field),
    message: `field '${field}' ${message}`,
  }))
  if (problems.length > 0) return { problems }
  return { description: textField(fields, 'description').trim(), content: text.slice(head.length).trim() }
}

async function parseFrontMatter(file: string, yaml: string): Promise<JsonObject> {
  const { parseYaml } = await import('../../base/parse-yaml.ts')
  let value: Json
  try {
    value = parseYaml(yaml)
  } catch (error) {
    const [, reason, line = 0] = /^(.*?)(?: at line (\d+), column \d+:?)?$/.exec(errorMessage(error)) ?? []
    // The front matter begins on the second line of the file.
    throw new SkillProblem(file, `has front matter that is not YAML: ${reason}`, Number(line) + 1)
  }
  if (!isJsonObject(value))
    throw new SkillProblem(file, 'must have the fields name and description in its front matter')
  return value
}

function findFieldProblems(
  { name, description }: JsonObject,
  folderName: string,
): { field: string; message: string }[] {
  const problems: { field: string; message: string }[] = []
  if (name === undefined) problems.push({ field: 'name', message: 'is missing' })
  else if (name !== folderName)
    problems.push({ field: 'name', message: `must be '${folderName}', the name of the folder` })
  if (description === undefined) problems.push({ field: 'description', message: 'is missing' })
  else if (typeof description !== 'string' || description.trim() === '')
    problems.push({ field: 'description', message: 'must be a text that says what the skill is for' })
  else if (description.length > MAX_DESCRIPTION_CHARS) {
    const length = description.length.toLocaleString('en')
    problems.push({ field: 'description', message: `has ${length} characters; at most 1,024 are allowed` })
  }
  return problems
}

/** A missing field is reported for the first line. */
const lineOfField = (yaml: string, field: string): number =>
  yaml.split('\n').findIndex((line) => line.startsWith(`${field}:`)) + 2
