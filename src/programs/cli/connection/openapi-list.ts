import { isJsonObject, type JsonObject } from '../../../platform/base/json.ts'
import { usageError } from '../shell/failure.ts'
import { resolveRef, toList, toTextOrEmpty } from './openapi-document.ts'

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const

/** An operation of a document, before it is converted. */
export interface ListedOperation {
  /** A slug made from `operationId`, or from method and path; no two operations have the same. */
  name: string
  operationId: string | null
  method: string
  path: string
  tags: string[]
  summary: string
  spec: JsonObject
  /** What the path says about all of its operations. */
  shared: JsonObject
}

export function listOperations(document: JsonObject): ListedOperation[] {
  const names = new Set<string>()
  return Object.entries(isJsonObject(document.paths) ? document.paths : {}).flatMap(([path, item]) => {
    const shared = resolveRef(document, item)
    return METHODS.flatMap((method): ListedOperation[] => {
      const spec = shared[method]
      if (!isJsonObject(spec)) return []
      const operationId = toTextOrEmpty(spec.operationId) || null
      const name = uniqueName(toOperationName(operationId ?? `${method} ${path}`), names)
      const tags = toList(spec.tags).filter((tag) => typeof tag === 'string')
      const summary = toTextOrEmpty(spec.summary) || toTextOrEmpty(spec.description)
      return [{ name, operationId, method: method.toUpperCase(), path, tags, summary, spec, shared }]
    })
  })
}

const MAX_NAME_CHARACTERS = 64

/** `PostRefunds` and `post/refunds` become `post_refunds`. */
export function toOperationName(text: string): string {
  const words = text.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2').replaceAll(/([A-Z])([A-Z][a-z])/g, '$1_$2')
  const slug = words
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
  return slug.slice(0, MAX_NAME_CHARACTERS) || 'operation'
}

function uniqueName(name: string, taken: Set<string>): string {
  let unique = name
  for (let n = 2; taken.has(unique); n++) unique = `${name.slice(0, MAX_NAME_CHARACTERS - 4)}_${n}`
  taken.add(unique)
  return unique
}

/** The operations that the allow-list names: by name, by `operationId`, as `METHOD /path`, or by tag. */
export function pickOperations(all: ListedOperation[], allow: string[], tags: string[]): ListedOperation[] {
  for (const wanted of allow) requireOperation(all, wanted, '--allow')
  for (const tag of tags)
    if (!all.some((one) => one.tags.includes(tag)))
      throw usageError(`option --allow-tag: no operation has the tag '${tag}'`)
  return all.filter((one) => allow.some((wanted) => isNamed(one, wanted)) || tags.some((tag) => one.tags.includes(tag)))
}

export function requireOperation(all: ListedOperation[], wanted: string, option: string): ListedOperation {
  const found = all.find((one) => isNamed(one, wanted))
  if (!found) throw usageError(`option ${option}: the document has no operation '${wanted}'`)
  return found
}

export const isNamed = (one: ListedOperation, wanted: string): boolean =>
  one.name === wanted || one.operationId === wanted || `${one.method} ${one.path}` === wanted

/** Parameters of the operation replace those of its path with the same name and place. */
export function parametersOf(document: JsonObject, { spec, shared }: ListedOperation): JsonObject[] {
  const byPlace = new Map<string, JsonObject>()
  for (const given of [...toList(shared.parameters), ...toList(spec.parameters)]) {
    const parameter = resolveRef(document, given)
    byPlace.set(`${toTextOrEmpty(parameter.in)} ${toTextOrEmpty(parameter.name)}`, parameter)
  }
  return [...byPlace.values()]
}
