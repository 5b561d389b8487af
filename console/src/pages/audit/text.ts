import { formatNumber } from '../../ui/format.ts'
import { plural } from '../../ui/plural.ts'

export const auditText = {
  title: 'Audit log',
  lead: 'Tamper-evident log of every action.',
  export: 'Export',
  verify: 'Verify',
  service: 'the service',
  verified: (entries: number, checkpoints: number) =>
    `Verified: ${plural(entries, 'entry', 'entries')}, ${plural(checkpoints, 'signed checkpoint', 'signed checkpoints')}.`,
  sealedWithOtherKey: 'The latest entry is sealed with a different encryption key.',
  notSealed: (last: number) =>
    last === 1
      ? 'Entry 1 is older than your key and is not sealed.'
      : `Entries 1–${formatNumber(last)} are older than your key and are not sealed.`,
  broken: (seq: number | null, problem: string | null) =>
    `Chain broken at entry ${seq === null ? '(unknown)' : formatNumber(seq)}: ${problem ?? 'unknown problem'}`,
  action: 'Action',
  actionExample: 'connection.created',
  subject: 'Subject',
  subjectExample: 'ID',
  filter: 'Filter',
  noMatch: 'No matching entries',
  entries: 'Audit entries',
  columns: ['Number', 'Time', 'Actor', 'Action', 'Subject', 'Data'],
}
