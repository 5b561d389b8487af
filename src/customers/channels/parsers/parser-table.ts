// The parsers of what strangers send. The build puts them into a bundle of their own, which the service loads at first use.
import { type JobAnswer, runJob } from '../../../platform/ctx/worker-thread.ts'
import { parseCallFields, parseJsonObject, parseSlackCall } from './call-parsers.ts'
import { parseMailgunMail, parseMailgunSignature } from './mailgun-mail.ts'
import { parseMailHead, parseMimeMail } from './mime-mail.ts'
import { parsePostmarkMail } from './postmark-mail.ts'
import { parseResendMail } from './resend-mail.ts'

/**
 * Each makes a value of bounded size from any bytes, or throws a `Problem`. Options and results can be sent to a thread. A
 * parser keeps no state.
 */
const PARSERS = {
  formFields: parseCallFields,
  jsonObject: parseJsonObject,
  mailHead: parseMailHead,
  mailgunMail: parseMailgunMail,
  mailgunSignature: parseMailgunSignature,
  mimeMail: parseMimeMail,
  postmarkMail: parsePostmarkMail,
  resendMail: parseResendMail,
  slackCall: parseSlackCall,
}

type Parsers = typeof PARSERS
export type ParserName = keyof Parsers
export type ParserOptions<Name extends ParserName> = Parameters<Parsers[Name]>[1]
type ParserResults = { [Name in ParserName]: Awaited<ReturnType<Parsers[Name]>> }
export type ParserResult<Name extends ParserName> = ParserResults[Name]

type Parser<Name extends ParserName> = (
  body: Buffer,
  options: ParserOptions<Name>,
) => ParserResult<Name> | Promise<ParserResult<Name>>
const PARSERS_BY_NAME: { [Name in ParserName]: Parser<Name> } = PARSERS

/** A job of the parser thread. */
export interface ParserJob<Name extends ParserName = ParserName> {
  name: Name
  bytes: Uint8Array
  options: ParserOptions<Name>
}

export function runParser<Name extends ParserName>(job: ParserJob<Name>): Promise<JobAnswer<ParserResult<Name>>> {
  const { name, bytes, options } = job
  return runJob(() => PARSERS_BY_NAME[name](Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), options))
}
