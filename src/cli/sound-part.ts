import { z } from 'zod'
import { valueAt } from '../base/complaint.ts'
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts'
import { Manifest, TaskType } from '../base/wedge.ts'
import type { Path } from './json-places.ts'

/** What is left of a manifest without the values that are wrong, so that they do not hide what is wrong elsewhere. */
export interface SoundPart {
  manifest: Manifest
  /** Where a value of it stands in the file: what was left out of a list has moved those behind it. */
  placeOf: (path: Path) => Path
  /** Whether all that a key of the manifest names is there; else a name that is missing may be among what is wrong. */
  whole: (key: keyof Manifest) => boolean
}

/** Everything may be left out; what must be there has been asked for before. */
const Part = Manifest.extend({ wedge: z.string().default(''), task_types: z.record(z.string(), TaskType).default({}) })

export function soundPart(source: JsonObject): SoundPart | null {
  const without: Without = { left: new Map(), kept: new Map() }
  for (;;) {
    const value = copied(without, source, [])
    const { data: manifest, error } = Part.safeParse(value)
    if (manifest) return { manifest, placeOf: (path) => placeOf(without, path), whole: (key) => isWhole(without, key) }
    const before = without.left.size
    for (const path of error.issues.flatMap((issue) => atFault(issue, value))) {
      const place = placeOf(without, path)
      without.left.set(JSON.stringify(place), place)
    }
    if (without.left.size === before || without.left.has('[]')) return null
  }
}

/** The values that were left out, and the numbers of those that stayed in each list; both by their place in the file. */
interface Without {
  left: Map<string, Path>
  kept: Map<string, number[]>
}

function copied(without: Without, value: Json, path: Path): Json {
  const stays = (key: string | number) => !without.left.has(JSON.stringify([...path, key]))
  if (Array.isArray(value)) {
    const kept = [...value.keys()].filter(stays)
    without.kept.set(JSON.stringify(path), kept)
    return kept.map((at) => copied(without, value[at] ?? null, [...path, at]))
  }
  if (!isJsonObject(value)) return value
  const fields = Object.entries(value).filter(([key]) => stays(key))
  return Object.fromEntries(fields.map(([key, inner]) => [key, copied(without, inner, [...path, key])]))
}

/** What lacks something cannot be mended by leaving that out, so it goes as a whole. */
function atFault(issue: z.core.$ZodIssue, value: Json): Path[] {
  const path = issue.path.map((key) => (typeof key === 'number' ? key : String(key)))
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => [...path, key])
  return [valueAt(value, path) === undefined ? path.slice(0, -1) : path]
}

function placeOf({ kept }: Without, path: Path): Path {
  return path.reduce<Path>((place, key) => {
    const numbers = typeof key === 'number' ? kept.get(JSON.stringify(place)) : undefined
    return [...place, typeof key === 'number' ? (numbers?.[key] ?? key) : key]
  }, [])
}

/** What is left out deeper than that is no entry of the key's, but something about one. */
const isWhole = ({ left }: Without, key: string) =>
  ![...left.values()].some((path) => path[0] === key && path.length <= 2)
