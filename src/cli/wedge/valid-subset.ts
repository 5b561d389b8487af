import { z } from 'zod'
import { valueAtPath } from '../../base/issue-message.ts'
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts'
import { WedgeManifest, TaskType } from '../../contract/wedge-manifest.ts'
import type { JsonPath } from './json-with-lines.ts'

/** What is left of a manifest without the values that are wrong, so that they do not hide what is wrong elsewhere. */
export interface ValidSubset {
  manifest: WedgeManifest
  /** Where a value of it stands in the file: what was left out of a list has moved those behind it. */
  pathInFile: (path: JsonPath) => JsonPath
  /** Whether all that a key of the manifest names is there; else a name that is missing may be among what is wrong. */
  isComplete: (key: keyof WedgeManifest) => boolean
}

/** Everything may be left out; what must be there has been asked for before. */
const PartialManifest = WedgeManifest.extend({
  wedge: z.string().default(''),
  task_types: z.record(z.string(), TaskType).default({}),
})

export function findValidSubset(source: JsonObject): ValidSubset | null {
  const without: RemovedValues = { left: new Map(), kept: new Map() }
  for (;;) {
    const value = copyWithout(without, source, [])
    const { data: manifest, error } = PartialManifest.safeParse(value)
    if (manifest)
      return {
        manifest,
        pathInFile: (path) => pathInFile(without, path),
        isComplete: (key) => isComplete(without, key),
      }
    const before = without.left.size
    for (const path of error.issues.flatMap((issue) => faultyPaths(issue, value))) {
      const place = pathInFile(without, path)
      without.left.set(JSON.stringify(place), place)
    }
    if (without.left.size === before || without.left.has('[]')) return null
  }
}

/** The values that were left out, and the numbers of those that stayed in each list; both by their place in the file. */
interface RemovedValues {
  left: Map<string, JsonPath>
  kept: Map<string, number[]>
}

function copyWithout(without: RemovedValues, value: Json, path: JsonPath): Json {
  const stays = (key: string | number) => !without.left.has(JSON.stringify([...path, key]))
  if (Array.isArray(value)) {
    const kept = [...value.keys()].filter(stays)
    without.kept.set(JSON.stringify(path), kept)
    return kept.map((at) => copyWithout(without, value[at] ?? null, [...path, at]))
  }
  if (!isJsonObject(value)) return value
  const fields = Object.entries(value).filter(([key]) => stays(key))
  return Object.fromEntries(fields.map(([key, inner]) => [key, copyWithout(without, inner, [...path, key])]))
}

/** What lacks something cannot be mended by leaving that out, so it goes as a whole. */
function faultyPaths(issue: z.core.$ZodIssue, value: Json): JsonPath[] {
  const path = issue.path.map((key) => (typeof key === 'number' ? key : String(key)))
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => [...path, key])
  return [valueAtPath(value, path) === undefined ? path.slice(0, -1) : path]
}

function pathInFile({ kept }: RemovedValues, path: JsonPath): JsonPath {
  return path.reduce<JsonPath>((place, key) => {
    const numbers = typeof key === 'number' ? kept.get(JSON.stringify(place)) : undefined
    return [...place, typeof key === 'number' ? (numbers?.[key] ?? key) : key]
  }, [])
}

/** What is left out deeper than that is no entry of the key's, but something about one. */
const isComplete = ({ left }: RemovedValues, key: string) =>
  ![...left.values()].some((path) => path[0] === key && path.length <= 2)
