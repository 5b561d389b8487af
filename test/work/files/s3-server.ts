import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import S3rver from 's3rver'
import { onTestFinished } from 'vitest'

export interface S3Server {
  url: string
  /** The settings of a service that keeps its files here. */
  env: Record<string, string>
  /** The keys of all objects. */
  keys(): Promise<string[]>
  /** The bytes of an object. */
  read(key: string): Promise<Buffer>
  /** How many parts of uploads are stored completely. */
  storedParts(): number
  /** The uploads in parts that are neither complete nor aborted. */
  uploadFolders(): string[]
}

/** A real S3 server with one bucket. It checks key ids but no signatures; `signature.test.ts` checks those. */
export async function openS3Server(): Promise<S3Server> {
  const directory = mkdtempSync(join(tmpdir(), 'svc-s3-'))
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory,
    configureBuckets: [{ name: 'files', configs: [] }],
  })
  const uploads = join(directory, 'files', '._S3rver_uploads')
  mkdirSync(uploads, { recursive: true })
  server.middleware.unshift(async (ctx, next) => {
    // The tests have a clock of their own, and the package compares its time with the machine's.
    if ('x-amz-date' in ctx.headers) ctx.headers['x-amz-date'] = new Date().toISOString().replaceAll(/[:-]|\.\d+/g, '')
    // The package cannot abort uploads.
    if (ctx.method !== 'DELETE' || ctx.query.uploadId === undefined) return next()
    rmSync(join(uploads, ctx.query.uploadId), { recursive: true })
    ctx.status = 204
    return undefined
  })
  const { port } = await server.run()
  onTestFinished(async () => {
    await server.close()
    rmSync(directory, { recursive: true, force: true })
  })
  const url = `http://127.0.0.1:${port}`
  const read = async (path: string) => {
    // An address that is signed in the query is enough for this server.
    const response = await fetch(`${url}/files/${path}`)
    if (!response.ok) throw new Error(`${path}: ${response.status}`)
    return Buffer.from(await response.arrayBuffer())
  }
  return {
    url,
    env: {
      SVC_FILES: 's3://files/desk',
      SVC_S3_ENDPOINT: url,
      AWS_ACCESS_KEY_ID: 'S3RVER',
      AWS_SECRET_ACCESS_KEY: 'S3RVER',
    },
    keys: async () =>
      [...(await read('?list-type=2')).toString().matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key = '']) => key),
    read,
    storedParts: () => readdirSync(uploads, { recursive: true }).filter((file) => String(file).endsWith('.md5')).length,
    uploadFolders: () => readdirSync(uploads),
  }
}
