import { promises as fs } from 'node:fs'
import { textField } from '../../platform/base/json-fields.ts'
import type { JsonObject } from '../../platform/base/json.ts'
import type { Brief, BriefFile } from '../../platform/contract/agent-protocol.ts'
import { VISIBLE_TYPES } from '../../platform/contract/providers/conversation.ts'
import { toolFailure, type HarnessTool, type ToolOutcome } from './tools/tool.ts'

/** How much of a file one call reads, in bytes. */
const MAX_READ_BYTES = 100_000

/** Reads the text of a file that the task was given. Images and PDFs are in the first message instead. */
export const fileReadTool: HarnessTool = {
  name: 'file_read',
  description:
    'Reads a text file that came with this task, such as CSV, JSON or Markdown. A long file is read in parts: go on at next_offset.',
  properties: {
    file: { type: 'string', description: 'The id or the name of the file.' },
    offset: { type: 'integer', description: 'The byte to start at; 0 without it.' },
  },
  required: ['file'],
  async run({ brief }, input) {
    const file = findFile(brief, textField(input, 'file'))
    if (!file) return toolFailure(`there is no such file: the files are ${describeNames(brief)}`)
    if (VISIBLE_TYPES.includes(file.content_type))
      return toolFailure(
        `${file.name} is not a text file. Images and PDFs are shown in your first message if the model accepts them.`,
      )
    return readPart(file, startOf(input))
  },
}

/** The ids of the files that the model sees in the first message. */
export const visibleFiles = ({ files }: Pick<Brief, 'files'>): string[] =>
  files.filter(({ content_type }) => VISIBLE_TYPES.includes(content_type)).map(({ id }) => id)

const findFile = ({ files }: Brief, wanted: string): BriefFile | undefined =>
  files.find(({ id }) => id === wanted) ?? files.find(({ name }) => name === wanted)

const describeNames = ({ files }: Brief): string => files.map(({ id, name }) => `${name} (${id})`).join(', ')

const startOf = ({ offset }: JsonObject): number => (typeof offset === 'number' && offset > 0 ? offset : 0)

async function readPart(file: BriefFile, start: number): Promise<ToolOutcome> {
  const bytes = await readBytes(file.path, start)
  const decoded = bytes.includes(0) ? null : decodeText(bytes, start)
  if (decoded === null) return toolFailure(`${file.name} is not text (${file.content_type})`)
  const end = start + decoded.length
  const next_offset = end < file.size ? end : null
  // Clients may read the event, so it does not show the content.
  return {
    ok: true,
    output: { content: decoded.text, size: file.size, next_offset },
    shown: { size: file.size, next_offset },
  }
}

async function readBytes(path: string, start: number): Promise<Buffer> {
  const handle = await fs.open(path, 'r')
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(MAX_READ_BYTES), 0, MAX_READ_BYTES, start)
    return buffer.subarray(0, bytesRead)
  } finally {
    await handle.close()
  }
}

/** `length`: the number of bytes of the whole characters. Older programs write tables in the Windows encoding. */
function decodeText(bytes: Buffer, start: number): { text: string; length: number } {
  try {
    // With `stream`, a character that the end of the part cuts is left for the next part.
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true })
    return { text: start === 0 ? text.replace(/^\uFEFF/, '') : text, length: Buffer.byteLength(text) }
  } catch {
    return { text: decodeWindows1252(bytes), length: bytes.length }
  }
}

/** The characters 0x80 to 0x9f, which differ from Latin-1. The decoder of some versions of Node ignores the difference. */
const WINDOWS_CHARACTERS = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ'

const decodeWindows1252 = (bytes: Buffer): string =>
  // oxlint-disable-next-line no-control-regex -- these bytes are letters and signs in this encoding
  bytes.toString('latin1').replaceAll(/[\x80-\x9f]/g, (byte) => WINDOWS_CHARACTERS.charAt(byte.charCodeAt(0) - 0x80))
