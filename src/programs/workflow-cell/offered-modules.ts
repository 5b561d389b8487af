import assert from 'node:assert'
import buffer from 'node:buffer'
import crypto from 'node:crypto'
import path from 'node:path'
import querystring from 'node:querystring'
import stringDecoder from 'node:string_decoder'
import url from 'node:url'
import util from 'node:util'
import type { WorkflowModuleName } from '../../platform/contract/workflow-protocol.ts'

const MODULES: Record<WorkflowModuleName, object> = {
  assert,
  buffer,
  crypto,
  path,
  querystring,
  string_decoder: stringDecoder,
  url,
  util,
}

/** Exports that change or return state of the process. */
const WITHHELD_EXPORTS = ['fips', 'getSystemErrorMap', 'secureHeapUsed', 'setEngine', 'setFips', 'setTraceSigInt']

/** Exports by name, and the module itself as `default`. */
export type OfferedModule = Record<string, unknown>

/** The objects of the process that all realms share. None of them can be changed by workflow code. */
export interface OfferedObjects {
  modules: Map<string, OfferedModule>
  globals: Record<string, unknown>
}

export function freezeOfferedObjects(): OfferedObjects {
  // Small buffers would otherwise be parts of one piece of memory, which `buffer.buffer` shows.
  Buffer.poolSize = 0
  const modules = new Map(Object.entries(MODULES).map(([name, module]) => [name, exportsOf(module)]))
  const globals = {
    Buffer,
    TextDecoder,
    TextEncoder,
    URL,
    URLSearchParams,
    atob,
    btoa,
    crypto: globalThis.crypto,
    structuredClone,
  }
  const frozen = new Set<object>()
  for (const offered of [...modules.values(), globals]) freezeDeep(offered, frozen)
  return { modules, globals }
}

/** A copy, because Node changes some modules itself when their parts are first used. */
function exportsOf(module: object): OfferedModule {
  const exports = Object.fromEntries(Object.entries(module).filter(([name]) => !WITHHELD_EXPORTS.includes(name)))
  return { ...exports, default: typeof module === 'function' ? module : exports }
}

/**
 * Freezes an object and everything that can be reached from it, so that no call can leave something for the next one.
 * The flag --frozen-intrinsics of Node does this for the objects of the language only.
 */
function freezeDeep(value: unknown, frozen: Set<object>): void {
  if (!isObject(value) || frozen.has(value) || ArrayBuffer.isView(value)) return
  frozen.add(value)
  const isPrototype = Object.hasOwn(value, 'constructor')
  for (const key of Reflect.ownKeys(value)) {
    const property = Object.getOwnPropertyDescriptor(value, key) ?? {}
    // The setter of a prototype changes the instance; any other one changes state of the process.
    const isState = !isPrototype && property.set !== undefined
    const current: unknown = isState ? property.get?.call(value) : property.value
    if (property.configurable && isState) Object.defineProperty(value, key, { value: current })
    if (property.configurable && isPrototype && property.writable) letInstancesOverride(value, key, current)
    const parts = Object.values(Object.getOwnPropertyDescriptor(value, key) ?? {})
    for (const part of [current, ...parts]) freezeDeep(part, frozen)
  }
  freezeDeep(Object.getPrototypeOf(value), frozen)
  // Node assigns some hidden properties of its prototypes in instances; these must stay writable.
  if (isPrototype) Object.seal(value)
  else Object.freeze(value)
}

const isObject = (value: unknown): value is object =>
  (typeof value === 'object' && value !== null) || typeof value === 'function'

/** An object cannot assign a property that is read-only in its prototype, and Node does that in its own instances. */
function letInstancesOverride(prototype: object, key: string | symbol, value: unknown): void {
  Object.defineProperty(prototype, key, {
    get: () => value,
    set(this: object, next: unknown) {
      if (this === prototype) throw new TypeError(`'${String(key)}' of a built-in object cannot be changed`)
      Object.defineProperty(this, key, { value: next, writable: true, enumerable: true, configurable: true })
    },
  })
}
