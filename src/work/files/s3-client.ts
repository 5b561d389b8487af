import { createHash } from 'node:crypto'
import { doublingWaits, waitAfter } from '../../platform/base/backoff.ts'
import { errorMessage } from '../../platform/base/error-message.ts'
import { Problem } from '../../platform/base/problem.ts'
import type { S3Config } from '../../platform/config/s3-config.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import { sleep } from '../../platform/ctx/world.ts'
import {
  createEgressClient,
  EgressError,
  type EgressResponse,
  type EgressStream,
} from '../../platform/egress/http-client.ts'
import { signAwsRequest } from '../../platform/egress/sign-aws-request.ts'
import { hashInTurns } from './hash-in-turns.ts'

/** A part of 8 MiB may go over a slow line. */
const REQUEST_TIMEOUT_MS = 5 * 60_000
const MAX_RESPONSE_BYTES = 256 * 1024
const RETRY_WAITS_MS = doublingWaits(2, 500)
/** How long the object store may pause while an object is read. */
const MAX_PAUSE_MS = 60_000

interface S3Request {
  method: 'GET' | 'PUT' | 'POST' | 'DELETE'
  /** The id of the file or artifact, which is the last part of the key. */
  id: string
  query?: Record<string, string>
  body?: Buffer
}

/** Sends a request whose response is small. All requests may be repeated, so failures that may pass are retried. */
export async function sendS3Request(ctx: Ctx, request: S3Request): Promise<EgressResponse> {
  for (let attempt = 1; ; attempt++) {
    const outcome = await attemptS3Request(ctx, request)
    const mayPass = outcome instanceof EgressError || outcome.status >= 500 || outcome.status === 429
    const waitMs = waitAfter(RETRY_WAITS_MS, attempt)
    if (!mayPass || waitMs === null) return requireS3Success(ctx, request, outcome)
    await sleep(ctx.world.clock, waitMs)
  }
}

async function attemptS3Request(ctx: Ctx, request: S3Request): Promise<EgressResponse | EgressError> {
  const { client, signed } = await prepareS3Request(ctx, request)
  const limits = { timeoutMs: REQUEST_TIMEOUT_MS, maxBytes: MAX_RESPONSE_BYTES }
  return client.request({ ...signed, ...limits }).catch((error: unknown) => {
    if (error instanceof EgressError) return error
    throw error
  })
}

/** The bytes of an object as they arrive. The connection is closed when the reader stops. */
export async function* readS3Object(ctx: Ctx, id: string, size: number): AsyncGenerator<Buffer> {
  const paused = new AbortController()
  const wait = () => ctx.world.clock.after(MAX_PAUSE_MS, () => paused.abort())
  const { client, signed } = await prepareS3Request(ctx, { method: 'GET', id })
  let cancel = wait()
  try {
    const request = { ...signed, signal: paused.signal, maxBytes: Math.max(size, MAX_RESPONSE_BYTES) }
    const response = await client.stream(request)
    if (response.status !== 200) throw await s3Failure(ctx, id, response)
    for await (const bytes of response.body) {
      cancel()
      yield bytes
      cancel = wait()
    }
  } catch (error) {
    throw error instanceof EgressError ? storageUnavailable(ctx, id, error) : error
  } finally {
    cancel()
    paused.abort()
  }
}

/** Everything that a request needs, signed. The secrets are read here and not kept. */
async function prepareS3Request(ctx: Ctx, { method, id, query = {}, body }: S3Request) {
  const s3 = requireS3(ctx)
  const url = new URL(`${s3.bucketUrl}/${s3.prefix}${id}`)
  url.search = new URLSearchParams(query).toString()
  const sha256 = (await hashInTurns(createHash('sha256'), body ?? Buffer.alloc(0))).digest('hex')
  const { env, clock } = ctx.world
  const signed = await signAwsRequest(
    { method, url: url.href, headers: { 'x-amz-content-sha256': sha256 } },
    {
      accessKeyId: env('AWS_ACCESS_KEY_ID') ?? '',
      secretAccessKey: env('AWS_SECRET_ACCESS_KEY') ?? '',
      sessionToken: env('AWS_SESSION_TOKEN'),
      region: s3.region,
      service: 's3',
    },
    clock.now(),
  )
  const client = createEgressClient(ctx, { trusted: s3.trustedHost === null ? [] : [s3.trustedHost] })
  return { client, signed: { ...signed, method, ...(body && { body }) } }
}

function requireS3({ config: { s3 } }: Ctx): S3Config {
  if (!s3) throw new Problem(503, 'the file is in an object store, but SVC_FILES is not set')
  return s3
}

/** An absent object is deleted already. */
async function requireS3Success(
  ctx: Ctx,
  { method, id }: S3Request,
  outcome: EgressResponse | EgressError,
): Promise<EgressResponse> {
  if (outcome instanceof EgressError) throw storageUnavailable(ctx, id, outcome)
  if (outcome.status < 300 || (method === 'DELETE' && outcome.status === 404)) return outcome
  throw await s3Failure(ctx, id, { ...outcome, body: [outcome.body] })
}

interface FailedResponse extends Omit<EgressStream, 'body'> {
  body: AsyncIterable<Buffer> | Iterable<Buffer>
}

/** The code of the error, such as `NoSuchBucket`, is for the operator. */
async function s3Failure(ctx: Ctx, id: string, { status, body }: FailedResponse): Promise<Problem> {
  let text = ''
  for await (const bytes of body) text += bytes.toString()
  const code = xmlText(text, 'Code') ?? ''
  ctx.world.log.error({ file: id, status, code }, 'the object store refused a request: check SVC_FILES and AWS_*')
  return storageProblem()
}

function storageUnavailable(ctx: Ctx, id: string, error: EgressError): Problem {
  ctx.world.log.error({ file: id, reason: errorMessage(error) }, 'the object store did not answer')
  return storageProblem()
}

const storageProblem = () => new Problem(502, 'the file storage did not answer as expected')

/** The text of an element that has no attributes and no elements inside. */
export function xmlText(xml: string, element: string): string | undefined {
  return new RegExp(`<${element}>([^<]*)</${element}>`)
    .exec(xml)?.[1]
    ?.replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
}
