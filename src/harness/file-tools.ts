import { promises as fs } from 'node:fs'
import path from 'node:path'
import { filesBelow } from './artifacts.ts'
import { cutText } from './events.ts'
import { textOf } from '../base/fields.ts'
import { pathInside } from './folder.ts'
import { failed, type Tool } from './tool.ts'

const LONGEST_READ = 100_000
const OUTSIDE = 'the path leaves the folder of the task'
const name = { type: 'string', description: 'Relative path, such as out/report.md.' }

const writeFile: Tool = {
  name: 'write_file',
  description: 'Writes a text file. Files below out/ are delivered as artifacts.',
  properties: { path: name, content: { type: 'string' } },
  required: ['path', 'content'],
  async run(run, input) {
    const full = pathInside(run.folder, textOf(input, 'path'))
    if (full === null) return failed(OUTSIDE)
    const content = textOf(input, 'content')
    await fs.mkdir(path.dirname(full), { recursive: true })
    await fs.writeFile(full, content)
    return { ok: true, output: { bytes: Buffer.byteLength(content) } }
  },
}

const readFile: Tool = {
  name: 'read_file',
  description: 'Reads a text file of this task.',
  properties: { path: name },
  required: ['path'],
  async run(run, input) {
    const full = pathInside(run.folder, textOf(input, 'path'))
    if (full === null) return failed(OUTSIDE)
    const content = await fs.readFile(full, 'utf8')
    const text = cutText(content, LONGEST_READ)
    return { ok: true, output: { content: text, truncated: text.length < content.length } }
  },
}

const listFiles: Tool = {
  name: 'list_files',
  description: 'Lists the files of this task.',
  properties: {},
  required: [],
  async run(run) {
    return { ok: true, output: { files: filesBelow(run.folder, '') } }
  },
}

export const fileTools: Tool[] = [writeFile, readFile, listFiles]
