import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { ROOT } from '../docs/pages.ts'

export interface InstalledPackage {
  /** Where it is installed: an empty folder but for `node_modules`. */
  folder: string
  installed: string
  program: string
  size: number
  unpackedSize: number
  files: { path: string }[]
  remove: () => void
}

/** What `npm pack` makes, laid out as npm would, without asking a registry for the one package that it depends on. */
export function packAndInstall(): InstalledPackage {
  const folder = mkdtempSync(join(tmpdir(), 'svc-package-'))
  chmodSync(folder, 0o755)
  const installed = join(folder, 'node_modules/agent-work-service')
  const words = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]
  const [packed] = JSON.parse(
    execFileSync('npm', words, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
  )
  mkdirSync(installed, { recursive: true })
  execFileSync('tar', ['-xzf', join(folder, packed.filename), '-C', installed, '--strip-components=1'])
  symlinkSync(join(ROOT, 'node_modules/@photostructure'), join(folder, 'node_modules/@photostructure'))
  const { size, unpackedSize, files } = packed
  const program = join(installed, 'dist/svc.mjs')
  const remove = () => rmSync(folder, { recursive: true, force: true })
  return { folder, installed, program, size, unpackedSize, files, remove }
}

/** What was said up to the line with these words, or to the end. */
export async function readUntil(stream: Readable, words: string): Promise<string> {
  let said = ''
  for await (const text of stream.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    said += String(text)
    if (said.includes(words)) break
  }
  stream.resume()
  return said
}
