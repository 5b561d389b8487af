import {
  answerCommand,
  listApprovalsCommand,
  approveCommand,
  editApprovalCommand,
  rejectCommand,
  reviseCommand,
} from './tasks/approval-commands.ts'
import { exportAuditCommand, verifyAuditCommand } from './admin/audit-commands.ts'
import { completionCommand } from './completion/completion-command.ts'
import { importConnectionCommand } from './connection/import-command.ts'
import { backupCommand } from './admin/backup-command.ts'
import type { CliCommand } from './shell/command.ts'
import { doctorCommand } from './doctor/doctor-command.ts'
import { deleteFileCommand, downloadFileCommand, listFilesCommand, uploadFileCommand } from './files/file-commands.ts'
import { initCommand } from './admin/init-command.ts'
import { createKeyCommand, deleteKeyCommand, listKeysCommand } from './admin/key-commands.ts'
import { runTaskCommand } from './tasks/run-command.ts'
import { adoptAuditCommand, rotateVaultCommand, serveCommand } from './admin/server-commands.ts'
import { tailTaskCommand } from './tasks/tail-command.ts'
import { assignApprovalCommand, commentApprovalCommand, showApprovalCommand } from './tasks/approval-people-commands.ts'
import { watchApprovalsCommand } from './tasks/watch-command.ts'
import { cancelTaskCommand, retryTaskCommand } from './tasks/cancel-and-retry.ts'
import { listTasksCommand } from './tasks/list-command.ts'
import { checkWedgeCommand } from './wedge/check-command.ts'
import { newWedgeCommand } from './wedge/new-command.ts'
import { wedgePolicyCommand, wedgeSuggestionsCommand } from './wedge/policy-commands.ts'
import { rehearseWedgeCommand } from './wedge/rehearse-command.ts'
import { wedgeTypesCommand } from './wedge/types-command.ts'

/** All commands, in the order in which help lists them. */
export const COMMANDS: readonly CliCommand[] = [
  initCommand,
  serveCommand,
  runTaskCommand,
  tailTaskCommand,
  listTasksCommand,
  cancelTaskCommand,
  retryTaskCommand,
  listApprovalsCommand,
  showApprovalCommand,
  watchApprovalsCommand,
  approveCommand,
  editApprovalCommand,
  answerCommand,
  rejectCommand,
  reviseCommand,
  assignApprovalCommand,
  commentApprovalCommand,
  listFilesCommand,
  uploadFileCommand,
  downloadFileCommand,
  deleteFileCommand,
  newWedgeCommand,
  checkWedgeCommand,
  rehearseWedgeCommand,
  wedgePolicyCommand,
  wedgeSuggestionsCommand,
  wedgeTypesCommand,
  importConnectionCommand,
  listKeysCommand,
  createKeyCommand,
  deleteKeyCommand,
  exportAuditCommand,
  verifyAuditCommand,
  adoptAuditCommand,
  rotateVaultCommand,
  backupCommand,
  doctorCommand,
  completionCommand((): readonly CliCommand[] => COMMANDS),
]
