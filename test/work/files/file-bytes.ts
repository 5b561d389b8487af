import { randomFillSync } from 'node:crypto'

export const randomBytesOf = (size: number): Buffer => randomFillSync(Buffer.alloc(size))

/** The bytes as they could arrive over a network. */
export async function* inSlices(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

export async function collect(bytes: AsyncIterable<Buffer>): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of bytes) pieces.push(piece)
  return Buffer.concat(pieces)
}
