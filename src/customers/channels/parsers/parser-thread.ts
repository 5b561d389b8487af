// The program of the parser thread, a bundle of its own.
import { parentPort } from 'node:worker_threads'
import { JoinedBlob } from './joined-blob.ts'
import type { ParserJob } from './parser-table.ts'

Reflect.set(globalThis, 'Blob', JoinedBlob)
parentPort?.on('message', (job: ParserJob) => void answerJob(job))

async function answerJob(job: ParserJob): Promise<void> {
  const { runParser } = await import('./parser-table.ts')
  const answer = await runParser(job)
  parentPort?.postMessage(answer, buffersOf(answer))
}

/** The bytes of files move to the other thread without a copy. */
function buffersOf(value: unknown): ArrayBuffer[] {
  if (value instanceof Uint8Array) return value.buffer instanceof ArrayBuffer ? [value.buffer] : []
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(buffersOf) : []
}
