import { setTimeout as sleep } from 'node:timers/promises'
import { createEventStreamParser } from '../../../platform/base/event-stream.ts'
import { isJsonObject, type JsonObject } from '../../../platform/base/json.ts'
import { CommandFailure, EXIT_CODE } from './failure.ts'
import type { Advice } from './program-name.ts'
import type { ServiceClient } from './service-client.ts'

const MAX_ATTEMPTS = 10
const MAX_RETRY_DELAY_MS = 5_000

/** Yields the JSON object of each event of one connection, until the server or the caller ends it. */
export async function* readEventObjects(
  service: ServiceClient,
  path: string,
  headers: Record<string, string> = {},
): AsyncGenerator<JsonObject> {
  const abort = new AbortController()
  try {
    const { body } = await service.open(path, { accept: 'text/event-stream', ...headers }, abort.signal)
    if (!body) return
    const decoder = new TextDecoder()
    const objects: JsonObject[] = []
    const parse = createEventStreamParser((data) => objects.push(...parseObject(data)))
    for await (const chunk of body) {
      parse(decoder.decode(chunk, { stream: true }))
      yield* objects.splice(0)
    }
  } finally {
    abort.abort()
  }
}

function parseObject(json: string): JsonObject[] {
  const value: unknown = JSON.parse(json)
  return isJsonObject(value) ? [value] : []
}

/** Counts the attempts to connect in a row. Throws when there were too many of them. */
export class Reconnection {
  #attempts = 0
  readonly #onLost: (() => void) | undefined
  readonly #advice: Advice

  constructor(onLost: (() => void) | undefined, advice: Advice) {
    this.#onLost = onLost
    this.#advice = advice
  }

  succeeded(): void {
    this.#attempts = 0
  }

  /** An error that another attempt may not have; every other error is thrown. */
  failed(error: unknown): void {
    if (error instanceof CommandFailure && error.exit !== EXIT_CODE.unreachable) throw error
    if (this.#attempts === 0) this.#onLost?.()
  }

  async wait(): Promise<void> {
    await sleep(Math.min(MAX_RETRY_DELAY_MS, 100 * 2 ** this.#attempts++))
    if (this.#attempts >= MAX_ATTEMPTS) {
      const message = `the connection failed ${MAX_ATTEMPTS} times in a row`
      throw new CommandFailure(EXIT_CODE.unreachable, message, this.#advice)
    }
  }
}
