import { badRequest } from './problem.ts'

/** The line between the parts of a form; a 400 if there is none, or two of which parsers take different ones. */
export function requireFormBoundary(contentType: string): Buffer {
  const [, quoted, bare] =
    /;\s*boundary=(?:"([\w'()+,./:=? -]{1,70})"|([\w'()+,./:=?-]{1,70}))\s*(?:;|$)/i.exec(contentType) ?? []
  const boundary = quoted ?? bare
  if (boundary === undefined || contentType.match(/boundary[*\d]*\s*=/gi)?.length !== 1)
    throw badRequest('the content type of a form must have one boundary')
  return Buffer.from(`--${boundary}`)
}

/** Counts the boundaries in the bytes of a form that come one after the other, and throws a 400 above the maximum. */
export class BoundaryCounter {
  readonly #boundary: Buffer
  readonly #max: number
  #count = 0
  /** The end of the last bytes, which may be the start of a boundary. */
  #rest: Buffer = Buffer.alloc(0)

  constructor(boundary: Buffer, maxParts: number) {
    this.#boundary = boundary
    // The last part ends with a boundary too.
    this.#max = maxParts + 1
  }

  count(bytes: Buffer): void {
    const joined = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes])
    let end = 0
    for (let at = joined.indexOf(this.#boundary); at !== -1; at = joined.indexOf(this.#boundary, end)) {
      end = at + this.#boundary.length
      if (++this.#count > this.#max) throw badRequest(`the form must not have more than ${this.#max - 1} parts`)
    }
    const restAt = Math.max(end, joined.length - this.#boundary.length + 1)
    this.#rest = Buffer.from(joined.subarray(restAt))
  }
}

/** The fields of a form in their order; null if there are more than the maximum, because each field takes time. */
export function parseFormFields(body: Buffer, maxFields: number): [name: string, value: string][] | null {
  let fields = 1
  for (let at = body.indexOf('&'); at !== -1; at = body.indexOf('&', at + 1)) if (++fields > maxFields) return null
  return [...new URLSearchParams(body.toString('utf8'))]
}
