import { isJsonObject, type Json, type JsonObject } from '../../platform/base/json.ts'
import { textField } from '../../platform/base/json-fields.ts'
import { badRequest } from '../../platform/base/problem.ts'

const MAX_CHARS = 8 * 1024 * 1024

/**
 * The latest output items of a run, by id. Libraries refer to an item by its id instead of sending it again, because the
 * provider usually stores it; here nothing is stored at the provider, so the proxy puts the item back.
 */
export class OutputItems {
  readonly #items = new Map<string, { item: JsonObject; chars: number }>()
  #chars = 0

  keep(items: JsonObject[]): void {
    for (const item of items) this.#add(textField(item, 'id'), item)
    for (const id of this.#items.keys()) {
      if (this.#chars <= MAX_CHARS) return
      this.#remove(id)
    }
  }

  /** The request with items in place of references to them. Throws a 400 for an unknown item. */
  putBack(request: JsonObject): JsonObject {
    const { input } = request
    if (!Array.isArray(input) || !input.some(isReference)) return request
    return { ...request, input: input.map((item) => (isReference(item) ? this.#find(textField(item, 'id')) : item)) }
  }

  #find(id: string): JsonObject {
    const kept = this.#items.get(id)
    if (kept) return kept.item
    throw badRequest(`item '${id.slice(0, 64)}' must be included in the input: nothing is stored at the provider`)
  }

  #add(id: string, item: JsonObject): void {
    if (id === '') return
    this.#remove(id)
    const chars = JSON.stringify(item).length
    this.#items.set(id, { item, chars })
    this.#chars += chars
  }

  #remove(id: string): void {
    this.#chars -= this.#items.get(id)?.chars ?? 0
    this.#items.delete(id)
  }
}

/** A reference may have no type, and so may a message, which has a role. */
function isReference(item: Json): item is JsonObject {
  if (!isJsonObject(item)) return false
  const type = textField(item, 'type')
  return type === 'item_reference' || (type === '' && textField(item, 'role') === '')
}
