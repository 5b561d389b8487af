import { readdir } from 'node:fs/promises'
import { issueMessages } from '../../platform/base/issue-message.ts'
import { notFound } from '../../platform/base/problem.ts'
import { isSlug } from '../../platform/base/text.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import { loadWedgeJson, WedgeFileError } from '../../wedges/library/wedge-files.ts'
import { Blueprint, type BlueprintProblem } from './blueprint.ts'

export interface BlueprintFolder {
  blueprints: Blueprint[]
  problems: BlueprintProblem[]
}

/** Reads the folder on every call: the files are few, and a new or corrected file takes effect at once. */
export async function readBlueprints(dir: string): Promise<BlueprintFolder> {
  const slugs = await listBlueprintSlugs(dir)
  const results = await Promise.all(slugs.map((slug) => readBlueprint(dir, slug)))
  return {
    blueprints: results.filter((one) => 'wedge' in one),
    problems: results.filter((one) => 'problem' in one),
  }
}

export async function requireBlueprint(ctx: Ctx, slug: string): Promise<Blueprint> {
  const read = isSlug(slug) ? await readBlueprint(ctx.config.blueprintsDir, slug) : null
  if (!read || 'problem' in read) throw notFound('blueprint')
  return read
}

/** Logs invalid files at start, so that they do not just look missing. */
export async function logBlueprintProblems(ctx: Ctx): Promise<void> {
  const { problems } = await readBlueprints(ctx.config.blueprintsDir)
  for (const { blueprint, problem } of problems) {
    ctx.world.log.error({ blueprint, problem }, `blueprint '${blueprint}': ${problem}`)
  }
}

async function readBlueprint(dir: string, slug: string): Promise<Blueprint | BlueprintProblem> {
  try {
    return validateBlueprint(await loadWedgeJson(dir, '', `${slug}.json`), slug)
  } catch (error) {
    if (error instanceof WedgeFileError) return { blueprint: slug, problem: error.message }
    throw error
  }
}

function validateBlueprint(source: unknown, slug: string): Blueprint {
  if (!isSlug(slug)) throw new WedgeFileError('the file name must be a slug: a-z, 0-9, _ and -')
  const parsed = Blueprint.safeParse(source)
  if (!parsed.success) throw new WedgeFileError(issueMessages(parsed.error, source))
  const { blueprint, requires_connections, schedules, seed_knowledge } = parsed.data
  if (blueprint !== slug) throw new WedgeFileError(`field 'blueprint' is '${blueprint}' but the file is '${slug}.json'`)
  for (const named of [requires_connections, schedules, seed_knowledge]) {
    const duplicate = named.find(({ name }, at) => named.findIndex((other) => other.name === name) !== at)
    if (duplicate) throw new WedgeFileError(`the name '${duplicate.name}' is used twice`)
  }
  return parsed.data
}

async function listBlueprintSlugs(dir: string): Promise<string[]> {
  try {
    const names = (await readdir(dir)).filter((name) => name.endsWith('.json') && !name.startsWith('.'))
    return names.map((name) => name.slice(0, -'.json'.length)).sort()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}
