import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { ROOT } from '../docs/pages.ts'
import { doOncePerRun } from '../run-folder.ts'

export interface InstalledPackage {
  /** The folder of the installation, which contains only `node_modules`. */
  folder: string
  installed: string
  program: string
  size: number
  unpackedSize: number
  files: { path: string }[]
  remove: () => void
}

interface PackReport {
  filename: string
  size: number
  unpackedSize: number
  files: { path: string }[]
}

/**
 * Installs the result of `npm pack` as npm would, with the only dependency linked instead of downloaded. The package is made
 * once for all test files; each has an installation of its own.
 */
export function packAndInstall(): InstalledPackage {
  const folder = mkdtempSync(join(tmpdir(), 'svc-package-'))
  chmodSync(folder, 0o755)
  const installed = join(folder, 'node_modules/agent-work-service')
  const { folder: packFolder, value: packed } = doOncePerRun('package', pack)
  mkdirSync(installed, { recursive: true })
  execFileSync('tar', ['-xzf', join(packFolder, packed.filename), '-C', installed, '--strip-components=1'])
  symlinkSync(join(ROOT, 'node_modules/@photostructure'), join(folder, 'node_modules/@photostructure'))
  const { size, unpackedSize, files } = packed
  const program = join(installed, 'dist/svc.mjs')
  const remove = () => rmSync(folder, { recursive: true, force: true })
  return { folder, installed, program, size, unpackedSize, files, remove }
}

function pack(folder: string): PackReport {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]
  const output = execFileSync('npm', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  const [report]: PackReport[] = JSON.parse(output)
  if (!report) throw new Error('npm has packed nothing')
  return report
}

/** Reads a stream until it contains this text, or to its end. */
export async function readUntil(stream: Readable, text: string): Promise<string> {
  let output = ''
  for await (const chunk of stream.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    output += String(chunk)
    if (output.includes(text)) break
  }
  stream.resume()
  return output
}
