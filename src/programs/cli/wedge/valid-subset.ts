import { z } from 'zod'
import { valueAtPath } from '../../../platform/base/issue-message.ts'
import { isJsonObject, type Json, type JsonObject } from '../../../platform/base/json.ts'
import { WedgeManifest, TaskType } from '../../../platform/contract/wedge/wedge-manifest.ts'
import type { JsonPath } from '../../../platform/base/json-with-lines.ts'

/** The manifest without its invalid values, so that one error does not hide the others. */
export interface ValidSubset {
  manifest: WedgeManifest
  /** Converts a path in the subset to the path in the file, because removed list items shift the indexes. */
  pathInFile: (path: JsonPath) => JsonPath
  /** False if an entry of this key was removed: a name that seems to be missing may be the removed one. */
  isComplete: (key: keyof WedgeManifest) => boolean
}

/** Requires nothing, because missing required keys have already been reported. */
const PartialManifest = WedgeManifest.extend({
  wedge: z.string().default(''),
  task_types: z.record(z.string(), TaskType).default({}),
})

export function findValidSubset(source: JsonObject): ValidSubset | null {
  const removed: RemovedValues = { paths: new Map(), keptIndexes: new Map() }
  for (;;) {
    const value = copyWithout(removed, source, [])
    const { data: manifest, error } = PartialManifest.safeParse(value)
    if (manifest)
      return {
        manifest,
        pathInFile: (path) => pathInFile(removed, path),
        isComplete: (key) => isComplete(removed, key),
      }
    const before = removed.paths.size
    for (const path of error.issues.flatMap((issue) => faultyPaths(issue, value))) {
      const inFile = pathInFile(removed, path)
      removed.paths.set(JSON.stringify(inFile), inFile)
    }
    if (removed.paths.size === before || removed.paths.has('[]')) return null
  }
}

/** The removed values, and the indexes that were kept in each list. Both use paths in the file, as JSON, as keys. */
interface RemovedValues {
  paths: Map<string, JsonPath>
  keptIndexes: Map<string, number[]>
}

function copyWithout(removed: RemovedValues, value: Json, path: JsonPath): Json {
  const isKept = (key: string | number) => !removed.paths.has(JSON.stringify([...path, key]))
  if (Array.isArray(value)) {
    const kept = [...value.keys()].filter(isKept)
    removed.keptIndexes.set(JSON.stringify(path), kept)
    return kept.map((index) => copyWithout(removed, value[index] ?? null, [...path, index]))
  }
  if (!isJsonObject(value)) return value
  const fields = Object.entries(value).filter(([key]) => isKept(key))
  return Object.fromEntries(fields.map(([key, inner]) => [key, copyWithout(removed, inner, [...path, key])]))
}

/** If a required value is missing, its parent is removed, because removing a missing value changes nothing. */
function faultyPaths(issue: z.core.$ZodIssue, value: Json): JsonPath[] {
  const path = issue.path.map((key) => (typeof key === 'number' ? key : String(key)))
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => [...path, key])
  return [valueAtPath(value, path) === undefined ? path.slice(0, -1) : path]
}

function pathInFile({ keptIndexes }: RemovedValues, path: JsonPath): JsonPath {
  return path.reduce<JsonPath>((parent, key) => {
    const indexes = typeof key === 'number' ? keptIndexes.get(JSON.stringify(parent)) : undefined
    return [...parent, typeof key === 'number' ? (indexes?.[key] ?? key) : key]
  }, [])
}

/** A deeper path removes only a part of an entry, not the entry. */
const isComplete = ({ paths }: RemovedValues, key: string) =>
  ![...paths.values()].some((path) => path[0] === key && path.length <= 2)
