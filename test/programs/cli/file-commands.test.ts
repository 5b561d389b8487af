import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sharedApp } from '../../app.ts'
import { randomBytesOf } from '../../work/files/file-bytes.ts'
import { callSvc } from './call-svc.ts'
import { runSvc, temporaryFolder } from './run-svc.ts'

const app = sharedApp({ store: 'sqlite' })

test('svc files uploads, lists, downloads and deletes a file', async () => {
  const folder = temporaryFolder()
  const from = join(folder, 'photo.bin')
  const bytes = randomBytesOf(3_000_000)
  writeFileSync(from, bytes)
  const svc = (...args: string[]) => callSvc(args, { url: app().url })
  const uploaded = await svc('files', 'upload', from)
  expect(uploaded).toMatchObject({ code: 0, stdout: expect.stringMatching(/^file_\w{26}\n$/) })
  const id = uploaded.stdout.trim()
  expect((await svc('files', '--json')).lines).toMatchObject([{ id, name: 'photo.bin', size: 3_000_000 }])
  expect((await svc('files')).stdout).toContain('photo.bin')
  const to = join(folder, 'copy.bin')
  expect((await svc('files', 'download', id, to)).code).toBe(0)
  expect(Buffer.compare(readFileSync(to), bytes)).toBe(0)
  expect(await svc('files', 'download', id, to)).toMatchObject({ code: 1, stderr: expect.stringContaining('EEXIST') })
  expect(await svc('files', 'delete', id)).toMatchObject({ code: 0, stdout: `${id} deleted\n` })
  expect((await svc('files')).stderr + (await svc('files')).stdout).toContain('no files')
})

test('svc files upload names a path that is not a file, and download can write to stdout', async () => {
  const missing = await callSvc(['files', 'upload', '/does/not/exist'], { url: app().url })
  expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining("'/does/not/exist' is not a file") })
  const { body } = await app().call('POST', '/v1/files?name=a.json', { a: 1 })
  expect(await runSvc(['files', 'download', body.id, '-'], { url: app().url })).toMatchObject({
    code: 0,
    stdout: '{"a":1}',
  })
})
