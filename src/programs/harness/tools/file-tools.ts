import { promises as fs } from 'node:fs'
import path from 'node:path'
import { MAX_ARTIFACT_MB } from '../../../platform/contract/agent-protocol.ts'
import { truncateText } from '../../../platform/contract/truncate-value.ts'
import { contentTypeOf, listFilesBelow } from '../artifacts.ts'
import { textField } from '../../../platform/base/json-fields.ts'
import { postFile } from './plane-tools.ts'
import { resolveInRunFolder } from '../run-folder.ts'
import { toolFailure, type HarnessTool } from './tool.ts'

const MAX_READ_CHARS = 100_000
const OUTSIDE_FOLDER = "field 'path' must stay inside the folder of the task"
const pathProperty = { type: 'string', description: 'Relative path, such as out/report.md.' }

const writeFileTool: HarnessTool = {
  name: 'write_file',
  description:
    'Writes a text file. Files below out/ are delivered as artifacts; the customer sees only those below out/client/.',
  properties: { path: pathProperty, content: { type: 'string' } },
  required: ['path', 'content'],
  async run(run, input) {
    const full = resolveInRunFolder(run.folder, textField(input, 'path'))
    if (full === null) return toolFailure(OUTSIDE_FOLDER)
    const content = textField(input, 'content')
    await fs.mkdir(path.dirname(full), { recursive: true })
    await fs.writeFile(full, content)
    return { ok: true, output: { bytes: Buffer.byteLength(content) } }
  },
}

const readFileTool: HarnessTool = {
  name: 'read_file',
  description: 'Reads a text file of this task.',
  properties: { path: pathProperty },
  required: ['path'],
  async run(run, input) {
    const full = resolveInRunFolder(run.folder, textField(input, 'path'))
    if (full === null) return toolFailure(OUTSIDE_FOLDER)
    const content = await fs.readFile(full, 'utf8')
    const text = truncateText(content, MAX_READ_CHARS)
    return { ok: true, output: { content: text, truncated: text.length < content.length } }
  },
}

const listFilesTool: HarnessTool = {
  name: 'list_files',
  description: 'Lists the files of this task.',
  properties: {},
  required: [],
  async run(run) {
    return { ok: true, output: { files: listFilesBelow(run.folder, '') } }
  },
}

const fileAttachTool: HarnessTool = {
  name: 'file_attach',
  description:
    'Makes a file of this task ready to be sent. Write {"$file": id} with the id of the result where an action takes the file.',
  properties: { path: pathProperty },
  required: ['path'],
  async run(run, input) {
    const full = resolveInRunFolder(run.folder, textField(input, 'path'))
    if (full === null) return toolFailure(OUTSIDE_FOLDER)
    const { size } = await fs.stat(full)
    if (size > MAX_ARTIFACT_MB.database * 1024 * 1024)
      return toolFailure(`the file is larger than ${MAX_ARTIFACT_MB.database} MiB`)
    const content = await fs.readFile(full, 'base64')
    return postFile(run, { name: path.basename(full), content_type: contentTypeOf(full), content })
  },
}

export const fileTools: HarnessTool[] = [writeFileTool, readFileTool, listFilesTool, fileAttachTool]
