const NEWLINE = 0x0a
const INITIAL_BUFFER_BYTES = 4096

export interface LineSplitter {
  /** Emits the lines that this chunk completes. False: a line is longer than allowed, and nothing more will come. */
  push(chunk: Buffer): boolean
  /** What came after the last newline. */
  rest(): string
}

/**
 * Bytes to lines. Whole lines are decoded together, once per chunk: no byte of a longer UTF-8 character is a newline,
 * so a cut at a newline never cuts a character. The open line is copied into one growing buffer, so that a program
 * that writes single bytes costs its bytes and not an object for each.
 */
export function createLineSplitter(maxBytes: number, emit: (line: string) => void): LineSplitter {
  let open = Buffer.allocUnsafe(INITIAL_BUFFER_BYTES)
  let used = 0
  let broken = false

  const keep = (bytes: Buffer) => {
    if (used + bytes.length > open.length) {
      const larger = Buffer.allocUnsafe(Math.max(open.length * 2, used + bytes.length))
      open.copy(larger, 0, 0, used)
      open = larger
    }
    used += bytes.copy(open, used)
    return used <= maxBytes
  }

  const take = (chunk: Buffer) => {
    const last = chunk.lastIndexOf(NEWLINE)
    if (last === -1) return keep(chunk)
    const first = used === 0 ? -1 : chunk.indexOf(NEWLINE)
    if (first !== -1) {
      if (!keep(chunk.subarray(0, first))) return false
      emit(open.toString('utf8', 0, used))
      used = 0
    }
    if (last > first && !emitLines(chunk.subarray(first + 1, last), maxBytes, emit)) return false
    return keep(chunk.subarray(last + 1))
  }

  return {
    push(chunk) {
      if (!broken) broken = !take(chunk)
      return !broken
    },
    rest: () => (broken ? '' : open.toString('utf8', 0, used)),
  }
}

function emitLines(block: Buffer, maxBytes: number, emit: (line: string) => void): boolean {
  if (block.length > maxBytes && maxLineLength(block) > maxBytes) return false
  for (const line of block.toString('utf8').split('\n')) emit(line)
  return true
}

function maxLineLength(block: Buffer): number {
  let longest = 0
  let start = 0
  while (start <= block.length) {
    const newline = block.indexOf(NEWLINE, start)
    const end = newline === -1 ? block.length : newline
    longest = Math.max(longest, end - start)
    start = end + 1
  }
  return longest
}
