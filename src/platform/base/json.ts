/** A JSON value. `undefined` is not one: absent fields are left out. */
export type Json = null | boolean | number | string | Json[] | JsonObject
export type JsonObject = { [key: string]: Json }

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Reads own fields only: `{}` has no `toString`, and `__proto__` is a name like any other. */
export function ownField(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

export function isNestedDeeperThan(value: Json, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((inner) => isNestedDeeperThan(inner, levels - 1))
}

/**
 * Canonical JSON (RFC 8785): keys sorted by UTF-16 code units, no white space, numbers as ECMAScript writes them.
 * Equal values give the same bytes, so their hashes can be compared.
 */
export function canonicalJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (!isJsonObject(value)) return JSON.stringify(value)
  const fields = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] as Json)}`)
  return `{${fields.join(',')}}`
}
