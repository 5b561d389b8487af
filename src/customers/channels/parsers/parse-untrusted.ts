import { errorMessage } from '../../../platform/base/error-message.ts'
import { Problem } from '../../../platform/base/problem.ts'
import type { Ctx } from '../../../platform/ctx/ctx.ts'
import { type ParserThreads, toResult } from '../../../platform/ctx/worker-thread.ts'
import { copyBytes } from '../mail/received-mail.ts'
import type { ParserName, ParserOptions, ParserResult } from './parser-table.ts'

/** What is larger or has more lines is parsed in a thread: 15 KB of addresses take 64 ms, and a part of a mail up to 0.1 ms. */
const MAX_BYTES_HERE = 4 * 1024
const MAX_LINES_HERE = 100

/**
 * Parses what a stranger has sent: a small input here, and any other in a thread, so that none holds the event loop.
 * The bytes may be moved to the thread, so the caller must not read them afterwards.
 */
export async function parseUntrusted<Name extends ParserName>(
  { parserThreads }: Pick<Ctx, 'parserThreads'>,
  name: Name,
  bytes: Buffer,
  options: ParserOptions<Name>,
): Promise<ParserResult<Name>> {
  if (isSmall(bytes)) {
    const { runParser } = await loadParsers()
    return toResult(await runParser({ name, bytes, options }))
  }
  // A buffer of the pool is a part of one that others use.
  const own = copyBytes(bytes)
  return parserThreads[THREADS[name]].run({ name, bytes: own, options }, [own.buffer])
}

/** Calls take a fraction of a second, because they may have 30,000 values only. */
const THREADS: Record<ParserName, keyof ParserThreads> = {
  formFields: 'calls',
  jsonObject: 'calls',
  mailHead: 'mails',
  mailgunMail: 'mails',
  mailgunSignature: 'mails',
  mimeMail: 'mails',
  postmarkMail: 'mails',
  resendMail: 'mails',
  slackCall: 'calls',
}

/** A failure is one of the installation, and not of the content. */
const loadParsers = () =>
  import('./parser-table.ts').catch((cause: unknown) => {
    throw new Problem(503, `the parser is not available: ${errorMessage(cause)}`)
  })

function isSmall(bytes: Buffer): boolean {
  if (bytes.length > MAX_BYTES_HERE) return false
  let lines = 0
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) if (++lines > MAX_LINES_HERE) return false
  return true
}

/** Reads a body with a parser, once: a second call with it gets the same result, and must have the same options. */
export type BodyReader = <Name extends ParserName>(
  name: Name,
  options: ParserOptions<Name>,
) => Promise<ParserResult<Name>>

export function createBodyReader(ctx: Pick<Ctx, 'parserThreads'>, body: Buffer): BodyReader {
  const results = new Map<ParserName, Promise<unknown>>()
  return <Name extends ParserName>(name: Name, options: ParserOptions<Name>) => {
    const result = results.get(name) ?? parseUntrusted(ctx, name, body, options)
    results.set(name, result)
    // oxlint-disable-next-line no-unsafe-type-assertion -- the result is stored under the name of its parser
    return result as Promise<ParserResult<Name>>
  }
}
