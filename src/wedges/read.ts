import { complaints } from '../base/complaint.ts'
import { isJsonObject, type JsonObject } from '../base/json.ts'
import { insideRoot, isSlug } from '../base/names.ts'
import type { NamedText } from '../base/protocol.ts'
import { Manifest, type Wedge } from '../base/wedge.ts'
import { readCode } from './code.ts'
import { filesIn, readJson, readText, Unreadable } from './files.ts'
import { instructionNames } from './task-type.ts'

/** A folder as it was read: a whole wedge or none, and what is wrong with it. */
export interface Reading {
  wedge: Wedge | null
  problems: string[]
}

export async function readWedge(root: string, slug: string): Promise<Reading> {
  try {
    const dir = await wedgeDir(root, slug)
    const source = await manifestSource(dir)
    const manifest = judgeManifest(source, slug)
    const skills = await readSkills(dir, manifest)
    const knowledge = await readKnowledge(dir, manifest)
    const code = await readCode(dir, manifest)
    const { rehearsals, problems } = await readRehearsals(dir, manifest)
    const title = manifest.title ?? slug
    return { wedge: { slug, title, dir, manifest, source, skills, knowledge, rehearsals, code }, problems }
  } catch (error) {
    if (error instanceof Unreadable) return { wedge: null, problems: [error.message] }
    throw error
  }
}

/** The manifest, or the first things that are wrong with it. */
function judgeManifest(source: JsonObject, slug: string): Manifest {
  const parsed = Manifest.safeParse(source)
  if (!parsed.success) throw new Unreadable(`wedge.json: ${complaints(parsed.error, source)}`)
  const fault = faultOf(parsed.data, slug)
  if (fault) throw new Unreadable(`wedge.json: ${fault}`)
  return parsed.data
}

function faultOf(manifest: Manifest, slug: string): string | null {
  if (manifest.wedge !== slug) return `wedge is '${manifest.wedge}' but the folder is called '${slug}'`
  const workflows = manifest.workflows.map(({ name }) => name)
  const undeclared = Object.entries(manifest.task_types)
    .filter(([name, type]) => type.harness.shape === 'workflow' && !workflows.includes(name))
    .map(([name]) => name)[0]
  if (undeclared) return `task_types.${undeclared} has the shape workflow, but workflows declares no '${undeclared}'`
  const twice = repeated(workflows)
  if (twice) return `workflows declares '${twice}' twice`
  const askedTwice = repeated(manifest.intake.map(({ id }) => id))
  return askedTwice ? `intake has the id '${askedTwice}' twice` : null
}

const repeated = (names: string[]) => names.find((name, at) => names.indexOf(name) !== at)

async function wedgeDir(root: string, slug: string): Promise<string> {
  if (!isSlug(slug)) throw new Unreadable('the name of the folder must be a slug: a-z, 0-9, _ and -')
  const dir = await insideRoot(root, slug)
  if (!dir) throw new Unreadable('the folder is a link that leads out of the wedges folder, or cannot be opened')
  return dir
}

async function manifestSource(dir: string): Promise<JsonObject> {
  const source = await readJson(dir, '', 'wedge.json')
  if (!isJsonObject(source)) throw new Unreadable('wedge.json must be an object')
  return source
}

async function readSkills(dir: string, manifest: Manifest): Promise<NamedText[]> {
  const all = async () => (await filesIn(dir, 'skills')).filter((file) => file.endsWith('.md'))
  const names = manifest.skills ?? (await all()).map((file) => file.slice(0, -'.md'.length))
  const ofTypes = Object.values(manifest.task_types).flatMap((type) => type.harness.skills ?? [])
  return Promise.all(
    [...new Set([...names, ...ofTypes])].map(async (name) => ({
      name,
      content: await readText(dir, 'skills', `${name}.md`),
    })),
  )
}

async function readKnowledge(dir: string, manifest: Manifest): Promise<NamedText[]> {
  const names = manifest.knowledge ?? (await filesIn(dir, 'knowledge'))
  const instructions = Object.values(manifest.task_types).flatMap(instructionNames)
  return Promise.all(
    [...new Set([...names, ...instructions])].map(async (name) => ({
      name,
      content: await readText(dir, 'knowledge', name),
    })),
  )
}

/** A rehearsal is a test double: one that is broken is told and left out, and the work goes on without it. */
async function readRehearsals(dir: string, manifest: Manifest) {
  const rehearsals: Wedge['rehearsals'] = {}
  const problems: string[] = []
  for (const file of (await filesIn(dir, 'rehearsals')).filter(isRehearsal)) {
    const type = file.slice(0, -'.json'.length)
    if (!Object.hasOwn(manifest.task_types, type)) {
      problems.push(`rehearsals/${file} belongs to no task type`)
      continue
    }
    try {
      rehearsals[type] = await readJson(dir, 'rehearsals', file)
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error
      problems.push(error.message)
    }
  }
  return { rehearsals, problems }
}

/** `<type>.input.json` and `<type>.records.json` are what a rehearsal is tried with. */
const isRehearsal = (file: string) => /^[^.]+\.json$/.test(file)
