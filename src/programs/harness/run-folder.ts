import { mkdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import type { Brief } from '../../platform/contract/agent-protocol.ts'
import { OPTIONAL_TOOLS, type ToolName } from '../../platform/contract/tool-names.ts'

const FILE_TOOLS: readonly ToolName[] = [...OPTIONAL_TOOLS.files, ...OPTIONAL_TOOLS.shell]

export function usesFiles({ shape, tools }: Brief): boolean {
  return shape === 'agent' && FILE_TOOLS.some((name) => tools.includes(name))
}

/** The files in this folder become artifacts when the run ends. */
export function outputFolder(folder: string): string {
  return path.join(folder, 'out')
}

export function createRunFolder(folder: string): void {
  mkdirSync(outputFolder(folder), { recursive: true })
}

export function removeRunFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true })
}

/**
 * The absolute path, or null if it is outside the folder. Links need no check: only a command can create one, and a run
 * with commands has its own cell.
 */
export function resolveInRunFolder(folder: string, name: string): string | null {
  const full = path.resolve(folder, name)
  return full === folder || full.startsWith(folder + path.sep) ? full : null
}
