import { expect } from 'vitest'
import { Problem } from '../../src/platform/base/problem.ts'
import type { HookContent } from '../../src/customers/channels/adapters/adapter.ts'
import { type ParserThreads, WorkerThread } from '../../src/platform/ctx/worker-thread.ts'

/** The parser threads of an app, which note what they get and what they hand over. */
export class CountedThreads implements ParserThreads {
  bytes = 0
  /** The sizes of results that are too large for the event loop. */
  readonly tooLarge: object[] = []
  readonly calls: WorkerThread
  readonly mails: WorkerThread

  constructor({ calls, mails }: ParserThreads) {
    this.calls = this.#count(calls, MAX_CALL_CHARACTERS)
    this.mails = this.#count(mails, MAX_RESULT_CHARACTERS)
  }

  #count(thread: WorkerThread, maxCharacters: number): WorkerThread {
    const run = async <Result>(job: { bytes: Uint8Array }, buffers: readonly ArrayBuffer[]): Promise<Result> => {
      this.bytes += job.bytes.length
      const result = await thread.run<Result>(job, buffers)
      const { texts, values } = measure(result)
      if (texts > maxCharacters || values > MAX_VALUES) this.tooLarge.push({ texts, values })
      return result
    }
    return Object.assign(new WorkerThread(''), { run })
  }
}

/** The characters of all texts, and the number of all values; the bytes of a file are one, because they move. */
export function measure(value: unknown): { texts: number; values: number } {
  if (typeof value === 'string') return { texts: value.length, values: 1 }
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return { texts: 0, values: 1 }
  return Object.entries(value).reduce(
    (sum, [name, one]) => {
      const { texts, values } = measure(one)
      return { texts: sum.texts + name.length + texts, values: sum.values + values }
    },
    { texts: 0, values: 1 },
  )
}

/** What the event loop may parse itself. */
const MAX_BYTES = 4 * 1024
const MAX_LINES = 100
/** What the parser of a mail may hand over, apart from the bytes of files: some texts of 100,000 characters. */
const MAX_RESULT_CHARACTERS = 500_000
/** A call of a chat, whose size is limited, is handed over as it is. */
const MAX_CALL_CHARACTERS = 1024 * 1024
const MAX_VALUES = 50_000
const MAX_FILES = 1_000

/** Nothing of this input was parsed in this thread, or it is small. */
export function expectOutsideOfThisThread(body: Buffer, { bytes: movedBytes, tooLarge }: CountedThreads): void {
  expect(tooLarge).toEqual([])
  // Mailgun signs a part of the body, so it is read twice.
  if (movedBytes > 0) return expect([body.length, 2 * body.length]).toContain(movedBytes)
  expect(body.length).toBeLessThanOrEqual(MAX_BYTES)
  expect(body.toString('latin1').split('\n').length - 1).toBeLessThanOrEqual(MAX_LINES)
}

export function expectBounded({
  messages,
  undelivered = [],
}: Pick<HookContent, 'undelivered'> & { messages: object[] }): void {
  const files = messages.flatMap((message) => ('files' in message && Array.isArray(message.files) ? message.files : []))
  expect(files.length).toBeLessThanOrEqual(MAX_FILES)
  const texts = messages.map((message) => ({ ...message, files: [] }))
  expect(measure([texts, undelivered]).texts).toBeLessThan(MAX_RESULT_CHARACTERS)
}

/**
 * The result, or null if the input was refused; an outage is a failure of the test, unless the adapter reports an unreadable
 * answer of its provider in this way.
 */
export async function unlessRefused<Result>(result: Promise<Result>, unreadable?: number): Promise<Result | null> {
  try {
    return await result
  } catch (error) {
    // The library that parses mails has errors of its own.
    if (error instanceof Problem && error.status >= 500 && error.status !== unreadable) throw error
    return null
  }
}
