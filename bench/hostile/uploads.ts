import { createServer, type Server as HttpServer } from 'node:http'
import { once } from 'node:events'
import {
  type Expected,
  FORM_END,
  FORM_TYPE,
  formFile,
  type HostileInput,
  joinBytes,
  MB,
  postBytes,
  repeatText,
  tinyFields,
} from './input.ts'

/** The database takes files of up to 10 MB. */
export const databaseUploads = (): HostileInput[] => [
  upload('file of 10 MB', 'accepted', () => fileBytes(10)),
  upload('file of 90 MB, refused after 10 MB', 'refused', () => fileBytes(90)),
  upload('form with a file of 10 MB', 'accepted', () => formOf(10), FORM_TYPE),
  upload('form with a file of 90 MB, refused after 10 MB', 'refused', () => formOf(90), FORM_TYPE),
  upload('form of 10 MB with 200,000 tiny parts', 'refused', () => joinBytes(tinyFields(10 * MB), FORM_END), FORM_TYPE),
]

/** An object store takes files of up to 100 MB. */
export const objectUploads = (): HostileInput[] => [
  upload('file of 90 MB to an object store', 'accepted', () => fileBytes(90)),
  upload('form with a file of 90 MB to an object store', 'accepted', () => formOf(90), FORM_TYPE),
  upload('form of 36 MB with 700,000 tiny parts', 'refused', () => joinBytes(tinyFields(36 * MB), FORM_END), FORM_TYPE),
]

const fileBytes = (megabytes: number) => repeatText('%PDF-1.7 ', megabytes * MB)
const formOf = (megabytes: number) => joinBytes(formFile('file', fileBytes(megabytes)), FORM_END)

function upload(name: string, expect: Expected, build: () => Buffer, contentType = 'application/pdf'): HostileInput {
  return {
    name: `upload, ${name}`,
    build,
    send(server, bytes) {
      const headers = { authorization: `Bearer ${server.key}`, 'content-type': contentType }
      return postBytes(server, { path: '/v1/files?name=a.pdf', headers, isChunked: true, expect }, bytes)
    },
  }
}

/** Stands for an object store: it accepts the calls of an upload, and keeps nothing. */
export async function openObjectStore(): Promise<{ server: HttpServer; env: Record<string, string> }> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.setHeader('etag', '"1"')
      response.end('<InitiateMultipartUploadResult><UploadId>u1</UploadId></InitiateMultipartUploadResult>')
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  return {
    server,
    env: {
      SVC_FILES: 's3://files',
      SVC_S3_ENDPOINT: `http://127.0.0.1:${port}`,
      AWS_ACCESS_KEY_ID: 'bench',
      AWS_SECRET_ACCESS_KEY: 'bench',
    },
  }
}
