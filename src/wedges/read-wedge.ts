import { issueMessages } from '../base/issue-message.ts'
import { isJsonObject, type JsonObject } from '../base/json.ts'
import { realpathInside } from '../base/real-path.ts'
import { isSlug } from '../base/slug.ts'
import type { NamedText } from '../contract/agent-protocol.ts'
import { WedgeManifest, type Wedge } from '../contract/wedge-manifest.ts'
import { readWorkflowCode } from './workflow-code.ts'
import { listPartFiles, loadWedgeJson, loadWedgeText, WedgeFileError } from './wedge-files.ts'
import { instructionFileNames } from './task-type.ts'

/** The complete wedge or null, and the problems of the folder. */
export interface WedgeReadResult {
  wedge: Wedge | null
  problems: string[]
}

export async function readWedge(root: string, slug: string): Promise<WedgeReadResult> {
  try {
    const dir = await resolveWedgeDir(root, slug)
    const source = await readManifestSource(dir)
    const manifest = validateManifest(source, slug)
    const skills = await readSkills(dir, manifest)
    const knowledge = await readKnowledge(dir, manifest)
    const code = await readWorkflowCode(dir, manifest)
    const { rehearsals, problems } = await readRehearsals(dir, manifest)
    const title = manifest.title ?? slug
    return { wedge: { slug, title, dir, manifest, source, skills, knowledge, rehearsals, code }, problems }
  } catch (error) {
    if (error instanceof WedgeFileError) return { wedge: null, problems: [error.message] }
    throw error
  }
}

function validateManifest(source: JsonObject, slug: string): WedgeManifest {
  const parsed = WedgeManifest.safeParse(source)
  if (!parsed.success) throw new WedgeFileError(`wedge.json: ${issueMessages(parsed.error, source)}`)
  const fault = findManifestFault(parsed.data, slug)
  if (fault) throw new WedgeFileError(`wedge.json: ${fault}`)
  return parsed.data
}

function findManifestFault(manifest: WedgeManifest, slug: string): string | null {
  if (manifest.wedge !== slug) return `wedge is '${manifest.wedge}' but the folder is called '${slug}'`
  const workflows = manifest.workflows.map(({ name }) => name)
  const undeclared = Object.entries(manifest.task_types)
    .filter(([name, type]) => type.harness.shape === 'workflow' && !workflows.includes(name))
    .map(([name]) => name)[0]
  if (undeclared) return `task_types.${undeclared} has the shape workflow, but workflows declares no '${undeclared}'`
  const repeatedWorkflow = findRepeated(workflows)
  if (repeatedWorkflow) return `workflows declares '${repeatedWorkflow}' twice`
  const repeatedQuestion = findRepeated(manifest.intake.map(({ id }) => id))
  return repeatedQuestion ? `intake has the id '${repeatedQuestion}' twice` : null
}

const findRepeated = (names: string[]) => names.find((name, at) => names.indexOf(name) !== at)

async function resolveWedgeDir(root: string, slug: string): Promise<string> {
  if (!isSlug(slug)) throw new WedgeFileError('the name of the folder must be a slug: a-z, 0-9, _ and -')
  const dir = await realpathInside(root, slug)
  if (!dir) throw new WedgeFileError('the folder is a link to a target outside the wedges folder, or cannot be opened')
  return dir
}

async function readManifestSource(dir: string): Promise<JsonObject> {
  const source = await loadWedgeJson(dir, '', 'wedge.json')
  if (!isJsonObject(source)) throw new WedgeFileError('wedge.json must be an object')
  return source
}

async function readSkills(dir: string, manifest: WedgeManifest): Promise<NamedText[]> {
  const all = async () => (await listPartFiles(dir, 'skills')).filter((file) => file.endsWith('.md'))
  const names = manifest.skills ?? (await all()).map((file) => file.slice(0, -'.md'.length))
  const ofTypes = Object.values(manifest.task_types).flatMap((type) => type.harness.skills ?? [])
  return Promise.all(
    [...new Set([...names, ...ofTypes])].map(async (name) => ({
      name,
      content: await loadWedgeText(dir, 'skills', `${name}.md`),
    })),
  )
}

async function readKnowledge(dir: string, manifest: WedgeManifest): Promise<NamedText[]> {
  const names = manifest.knowledge ?? (await listPartFiles(dir, 'knowledge'))
  const instructions = Object.values(manifest.task_types).flatMap(instructionFileNames)
  return Promise.all(
    [...new Set([...names, ...instructions])].map(async (name) => ({
      name,
      content: await loadWedgeText(dir, 'knowledge', name),
    })),
  )
}

/** A broken rehearsal is reported and left out: it is only a test double, so the wedge works without it. */
async function readRehearsals(dir: string, manifest: WedgeManifest) {
  const rehearsals: Wedge['rehearsals'] = {}
  const problems: string[] = []
  for (const file of (await listPartFiles(dir, 'rehearsals')).filter(isRehearsalFile)) {
    const type = file.slice(0, -'.json'.length)
    if (!Object.hasOwn(manifest.task_types, type)) {
      problems.push(`rehearsals/${file} does not match a task type`)
      continue
    }
    try {
      rehearsals[type] = await loadWedgeJson(dir, 'rehearsals', file)
    } catch (error) {
      if (!(error instanceof WedgeFileError)) throw error
      problems.push(error.message)
    }
  }
  return { rehearsals, problems }
}

/** Excludes `<type>.input.json` and `<type>.records.json`, which are sample data for trying a rehearsal. */
const isRehearsalFile = (file: string) => /^[^.]+\.json$/.test(file)
