import { type DocumentOptions, parse, type ParseOptions, type SchemaOptions } from 'yaml'
import type { Json } from './json.ts'

const OPTIONS: ParseOptions & DocumentOptions & SchemaOptions = {
  // JSON values only: no dates, no binary data.
  schema: 'core',
  // Warnings are not printed.
  logLevel: 'error',
}

/** A file of a few lines with nested aliases can mean gigabytes. */
const MAX_ALIASES = 100

/** Parses YAML. A bundle of its own, because few deployments need the library: OpenAPI documents, and skills as folders. */
export function parseYaml(text: string): Json {
  try {
    const value: Json = parse(text, { ...OPTIONS, maxAliasCount: MAX_ALIASES })
    return value
  } catch (error) {
    // The message ends with lines of the source.
    const [reason = ''] = error instanceof Error ? error.message.split('\n', 1) : []
    throw new Error(reason, { cause: error })
  }
}
