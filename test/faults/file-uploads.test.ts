import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { expect, test, vi } from 'vitest'
import { FOUNDER_KEY } from '../app.ts'
import { randomBytesOf } from '../work/files/file-bytes.ts'
import { openS3Server } from '../work/files/s3-server.ts'
import { anyStore } from '../stores.ts'
import { createDeployment, type ServiceProcess } from './service-process.ts'
import { onlyInMatrix } from '../matrix.ts'

// A gigabyte takes long on a busy machine.
vi.setConfig({ testTimeout: 900_000 })

const MIB = 1024 * 1024

onlyInMatrix(() => {
  test('a file of 1 GiB goes through the service in both directions with flat memory', async () => {
    const s3 = await openS3Server()
    const deployment = await createDeployment('sqlite', { env: { ...s3.env, SVC_FILE_MAX_MB: '2000' } })
    const service = await deployment.start()
    const memory = watchMemory(service)
    const sent = createHash('sha256')
    const block = randomBytesOf(MIB)
    const bytes = function* () {
      for (let i = 0; i < 1024; i++) {
        block.writeUInt32BE(i, 0)
        const copy = Buffer.from(block)
        sent.update(copy)
        yield copy
      }
    }
    const file = await upload(service, Readable.from(bytes()))
    const sha256 = sent.digest('hex')
    expect([file.size, file.sha256]).toEqual([1024 * MIB, sha256])
    const received = createHash('sha256')
    const response = await fetch(`${service.url}/v1/files/${file.id}`, { headers: authorization })
    await pipeline(response.body ?? [], received)
    expect(received.digest('hex')).toBe(sha256)
    // About three parts of 8 MiB, and what the garbage collector leaves behind.
    expect(memory.growthMib()).toBeLessThan(250)
  })
})

anyStore((store) => {
  test('a service that is killed in the middle of an upload shows no file and later removes the parts', async () => {
    const s3 = await openS3Server()
    const deployment = await createDeployment(store, { env: s3.env })
    const service = await deployment.start()
    let proceed = () => {}
    const killed = new Promise<void>((resolve) => (proceed = resolve))
    const stuck = async function* () {
      for (let i = 0; i < 20; i++) yield randomBytesOf(MIB)
      await killed
    }
    const failed = upload(service, Readable.from(stuck())).then(
      () => 'stored',
      () => 'failed',
    )
    await expect.poll(() => s3.storedParts()).toBe(2)
    await service.kill()
    proceed()
    expect(await failed).toBe('failed')

    const rows = await deployment.openRows()
    expect(await rows.selectFrom('files').select(['state', 'size']).execute()).toEqual([
      { state: 'uploading', size: 16 * MIB },
    ])
    const second = await deployment.start()
    expect((await second.call('GET', '/v1/files')).body.data).toEqual([])
    expect(s3.storedParts()).toBe(2)
    await second.kill()

    await rows.updateTable('files').set({ created_at: '2020-01-01T00:00:00.000Z' }).execute()
    const third = await deployment.start()
    await expect.poll(() => rows.selectFrom('files').select('id').execute()).toEqual([])
    expect([s3.uploadFolders(), await s3.keys()]).toEqual([[], []])
    const project = (await third.call('GET', '/v1/projects')).body.data[0].id
    expect((await third.call('GET', `/v1/projects/${project}`)).body.stored_bytes).toBe(0)
  })
})

const authorization = { authorization: `Bearer ${FOUNDER_KEY}` }

/** Sends a body in chunks, without its length. */
async function upload(service: ServiceProcess, body: Readable): Promise<{ id: string; size: number; sha256: string }> {
  const outgoing = request(`${service.url}/v1/files?name=large.bin`, { method: 'POST', headers: authorization })
  const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>
  const [[response]] = await Promise.all([answered, pipeline(body, outgoing)])
  let text = ''
  for await (const chunk of response.setEncoding('utf8')) text += chunk
  if (response.statusCode !== 201) throw new Error(`${response.statusCode} ${text}`)
  return JSON.parse(text)
}

/** Samples the resident memory of the process. */
function watchMemory({ child }: ServiceProcess): { growthMib(): number } {
  const residentKib = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1])
  const start = residentKib()
  let peak = start
  const timer = setInterval(() => {
    if (child.exitCode === null && child.signalCode === null) peak = Math.max(peak, residentKib())
  }, 100)
  child.once('exit', () => clearInterval(timer))
  return { growthMib: () => (peak - start) / 1024 }
}
