import { join } from 'node:path'
import type { z } from 'zod'
import { issueMessage } from '../../platform/base/issue-message.ts'
import { isJsonObject, type JsonObject } from '../../platform/base/json.ts'
import { type JsonPath, parseJsonWithLines } from '../../platform/base/json-with-lines.ts'
import { realpathInside } from '../../platform/base/real-path.ts'
import { isSlug } from '../../platform/base/text.ts'
import type { NamedText } from '../../platform/contract/agent-protocol.ts'
import { DEFAULT_AGENT_MAX_MEMORY_MB, findLargeAgents } from '../../platform/contract/wedge/declared-agents.ts'
import { DEFAULT_APPROVAL_TTL_MAX_S, findLongApprovals } from '../../platform/contract/wedge/declared-approvals.ts'
import {
  type FileProblem,
  problemText,
  WedgeManifest,
  type Wedge,
} from '../../platform/contract/wedge/wedge-manifest.ts'
import { readAgentFolders } from './agent-folders.ts'
import { readSkills } from './read-skills.ts'
import { readWorkflowCode } from './workflow-code.ts'
import {
  listPartFiles,
  loadWedgeJson,
  loadWedgeText,
  parseWedgeJson,
  wedgeFileError,
  WedgeFileError,
} from './wedge-files.ts'
import { instructionFileNames } from './task-type.ts'

/** More issues of one manifest are usually consequences of the first ones. */
const MAX_SHOWN_ISSUES = 20

/** The complete wedge or null, and the problems of the folder. */
export interface WedgeReadResult {
  wedge: Wedge | null
  problems: FileProblem[]
}

/** What the deployment allows a manifest to declare. */
export interface ManifestLimits {
  approvalTtlMaxS?: number
  agentMaxMemoryMb?: number
}

export async function readWedge(root: string, slug: string, limits: ManifestLimits = {}): Promise<WedgeReadResult> {
  try {
    const dir = await resolveWedgeDir(root, slug)
    const { source, manifest } = await readManifest(dir, slug, limits)
    const { problems: ofSkills, ...skills } = await readSkills(dir, manifest)
    const knowledge = await readKnowledge(dir, manifest)
    const code = await readWorkflowCode(dir, manifest)
    const { rehearsals, examples, problems: ofRehearsals } = await readRehearsals(dir, manifest)
    const agents = await readAgentFolders(dir, manifest)
    const title = manifest.title ?? slug
    const parts = { ...skills, knowledge, rehearsals, examples, code, agents }
    return { wedge: { slug, title, dir, manifest, source, ...parts }, problems: [...ofSkills, ...ofRehearsals] }
  } catch (error) {
    if (error instanceof WedgeFileError) return { wedge: null, problems: error.problems }
    throw error
  }
}

async function readManifest(
  dir: string,
  slug: string,
  { approvalTtlMaxS = DEFAULT_APPROVAL_TTL_MAX_S, agentMaxMemoryMb = DEFAULT_AGENT_MAX_MEMORY_MB }: ManifestLimits,
): Promise<{ source: JsonObject; manifest: WedgeManifest }> {
  const text = await loadWedgeText(dir, '', 'wedge.json')
  const source = parseWedgeJson('wedge.json', text)
  if (!isJsonObject(source)) throw wedgeFileError('wedge.json', 'must be an object')
  const { data: manifest, error } = WedgeManifest.safeParse(source)
  if (!manifest) throw invalidManifest(error, source, text)
  const exceeded = [...findLongApprovals(manifest, approvalTtlMaxS), ...findLargeAgents(manifest, agentMaxMemoryMb)]
  if (exceeded.length > 0) throw manifestError(exceeded, text)
  const fault = findManifestFault(manifest, slug)
  if (fault) throw new WedgeFileError(fault)
  return { source, manifest }
}

/** Reports every issue with its line, because the console shows them to the author. */
function invalidManifest(error: z.ZodError, source: JsonObject, text: string): WedgeFileError {
  const issues = error.issues.slice(0, MAX_SHOWN_ISSUES).map((issue) => {
    const path = issue.path.map((key) => (typeof key === 'number' ? key : String(key)))
    return { path, message: issueMessage(issue, source) }
  })
  return manifestError(issues, text)
}

function manifestError(issues: { path: JsonPath; message: string }[], text: string): WedgeFileError {
  const json = parseJsonWithLines(text)
  const problems = issues.map(({ path, message }) => {
    return { file: 'wedge.json', line: json.lineOf(path), message: `${path.join('.') || 'the file'} ${message}` }
  })
  return new WedgeFileError(problems.map(problemText).join('; '), problems)
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

/** A broken rehearsal or example is reported and left out, because the wedge works without it. */
async function readRehearsals(dir: string, manifest: WedgeManifest) {
  const rehearsals: Wedge['rehearsals'] = {}
  const examples: Wedge['examples'] = {}
  const problems: FileProblem[] = []
  for (const file of await listPartFiles(dir, 'rehearsals')) {
    const [, type = '', isExample] = /^([^.]+)(\.input)?\.json$/.exec(file) ?? []
    // Other files, such as `<type>.records.json`, are sample data for trying a rehearsal.
    if (type === '') continue
    try {
      if (!Object.hasOwn(manifest.task_types, type)) {
        throw wedgeFileError(join('rehearsals', file), 'does not match a task type')
      }
      const target = isExample ? examples : rehearsals
      target[type] = await loadWedgeJson(dir, 'rehearsals', file)
    } catch (error) {
      if (!(error instanceof WedgeFileError)) throw error
      problems.push(...error.problems)
    }
  }
  return { rehearsals, examples, problems }
}
