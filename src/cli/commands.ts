import { approvals, approve, edit, reject } from './approvals.ts'
import { exportAudit, verifyAudit } from './audit.ts'
import { backup } from './backup.ts'
import type { Command } from './command.ts'
import { doctor } from './doctor.ts'
import { createKey, deleteKey, keys } from './keys.ts'
import { run } from './run.ts'
import { adoptAudit, rotateVault, serve } from './server-commands.ts'
import { tail } from './tail.ts'
import { cancel, retry } from './task-commands.ts'
import { tasks } from './tasks.ts'
import { check } from './wedge-check.ts'
import { newWedge } from './wedge-new.ts'
import { rehearse } from './wedge-rehearse.ts'

/** In the order of help. */
export const COMMANDS: readonly Command[] = [
  serve,
  run,
  tail,
  tasks,
  cancel,
  retry,
  approvals,
  approve,
  edit,
  reject,
  newWedge,
  check,
  rehearse,
  keys,
  createKey,
  deleteKey,
  exportAudit,
  verifyAudit,
  adoptAudit,
  rotateVault,
  backup,
  doctor,
]
