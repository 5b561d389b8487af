import { type CellSetup, cellCommand, cellResourceLimits, createCellSetup } from '../cell-view.ts'
import type { CellSpec } from '../driver.ts'
import { findProgram, type HostProgram, inspectProgram } from '../host-programs.ts'
import type { Staging } from '../staging.ts'

/** `prlimit` starts the program of a cell, so the cell sees it. */
export interface LimitedCellSetup extends CellSetup {
  prlimit: HostProgram
}

export function createLimitedSetup(hide: string[], staging: Staging): LimitedCellSetup {
  const prlimit = findProgram('prlimit')
  if (prlimit === null) throw new Error('prlimit (package util-linux) is not installed')
  return { ...createCellSetup(hide, staging), prlimit: inspectProgram(prlimit) }
}

/** The limits are set inside the cell: there the kernel counts processes per cell, and not per user of the host. */
export function limitedCommand(spec: CellSpec, setup: LimitedCellSetup): string[] {
  const limits = Object.entries(cellResourceLimits(spec.limits)).map(([name, value]) => `--${name}=${value}:${value}`)
  return [setup.prlimit.path, ...limits, '--', ...cellCommand(spec, setup)]
}
