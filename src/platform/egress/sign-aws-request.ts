import { toIsoTime } from '../ctx/world.ts'

export interface AwsRequest {
  method: string
  url: string
  headers: Record<string, string>
  body?: string | Buffer | undefined
}

export interface AwsCredentials {
  accessKeyId: string
  secretAccessKey: string
  sessionToken?: string | undefined
  region: string
  service: string
}

/** Adds an AWS Signature Version 4 to a request. Only the signature is sent, not the secret. */
export async function signAwsRequest(
  request: AwsRequest,
  { sessionToken, ...credentials }: AwsCredentials,
  now: number,
): Promise<{ url: URL; headers: Record<string, string> }> {
  const { AwsV4Signer } = await import('aws4fetch')
  const signer = new AwsV4Signer({
    method: request.method,
    url: request.url,
    headers: request.headers,
    ...(request.body !== undefined && { body: new Uint8Array(Buffer.from(request.body)) }),
    ...credentials,
    ...(sessionToken !== undefined && { sessionToken }),
    // Such as 20150830T123600Z.
    datetime: toIsoTime(now).replaceAll(/[:-]|\.\d+/g, ''),
  })
  const { url, headers } = await signer.sign()
  return { url, headers: Object.fromEntries(headers) }
}
