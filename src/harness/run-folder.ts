import { mkdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import type { Brief } from '../contract/agent-protocol.ts'
import { OPTIONAL_TOOLS, type ToolName } from '../contract/tool-names.ts'

const FILE_TOOLS: readonly ToolName[] = [...OPTIONAL_TOOLS.files, ...OPTIONAL_TOOLS.shell]

export function usesFiles({ shape, tools }: Brief): boolean {
  return shape === 'agent' && FILE_TOOLS.some((name) => tools.includes(name))
}

/** What lies in here when the run ends becomes its artifacts. */
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
 * The absolute path, or null if it leaves the folder. Links need no check: only a command can make one, and a run with
 * commands has the whole cell to itself.
 */
export function resolveInRunFolder(folder: string, name: string): string | null {
  const full = path.resolve(folder, name)
  return full === folder || full.startsWith(folder + path.sep) ? full : null
}
