import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { signAwsRequest } from '../../../src/platform/egress/sign-aws-request.ts'

/**
 * The examples of Amazon's page "Signature Calculations for the Authorization Header". The one with a `range` header is
 * left out: the signer does not sign that header, and the service never sends it.
 */
const CREDENTIALS = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  region: 'us-east-1',
  service: 's3',
}
const AT = Date.UTC(2013, 4, 24)
const HOST = 'https://examplebucket.s3.amazonaws.com'
const hash = (text: string) => createHash('sha256').update(text).digest('hex')

describe('the examples that Amazon published for S3', () => {
  test.each([
    [
      'PUT an object',
      {
        method: 'PUT',
        url: `${HOST}/test%24file.text`,
        headers: {
          date: 'Fri, 24 May 2013 00:00:00 GMT',
          'x-amz-storage-class': 'REDUCED_REDUNDANCY',
          'x-amz-content-sha256': hash('Welcome to Amazon S3.'),
        },
      },
      '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
    ],
    [
      'GET with a parameter without a value',
      { method: 'GET', url: `${HOST}/?lifecycle`, headers: { 'x-amz-content-sha256': hash('') } },
      'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
    ],
    [
      'GET with several parameters',
      { method: 'GET', url: `${HOST}/?max-keys=2&prefix=J`, headers: { 'x-amz-content-sha256': hash('') } },
      '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
    ],
  ])('%s', async (_name, request, signature) => {
    const { headers } = await signAwsRequest(request, CREDENTIALS, AT)
    expect(headers.authorization).toContain(
      'AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request',
    )
    expect(headers.authorization?.split('Signature=')[1]).toBe(signature)
  })
})
