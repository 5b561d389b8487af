import { plural } from '../../ui/plural.ts'

const cadenceKinds = { every: 'Every N minutes', daily: 'Every day', monthly: 'Every month', cron: 'Cron expression' }

export const schedulesText = {
  title: 'Schedules',
  lead: 'Recurring tasks. Daily and monthly times are in UTC, cron times in the zone of the schedule. Dates are in your time zone.',
  newSchedule: 'New schedule',
  columns: ['Name', 'Frequency', 'Next runs', 'Last run', 'Enabled'],
  actions: 'Actions',
  off: 'Off',
  on: 'On',
  never: 'Never',
  enabledOf: (name: string) => `${name} enabled`,
  runNow: 'Run now',
  edit: 'Edit',
  delete: 'Delete',
  confirmDelete: (name: string) => `Delete the schedule ${name}?`,
  none: 'No schedules yet',
  noneHint: 'A schedule starts a task at an interval, every day, every month, or by a cron expression.',
  editSchedule: 'Edit schedule',
  save: 'Save',
  create: 'Create schedule',
  name: 'Name',
  cadenceKinds,
  frequency: 'Frequency',
  minutes: 'Minutes',
  dayOfMonth: 'Day of month',
  timeUtc: 'Time (UTC)',
  timeZone: 'Time zone',
  cron: 'Cron expression',
  cronHint: 'Minute, hour, day, month, weekday. For example, 30 8 * * 1-5 is 08:30 from Monday to Friday.',
  input: 'Input (JSON)',
  enabled: 'Enabled',
  nextRuns: 'Next runs',
  nextRunsAt: (times: string[]) => `Next runs: ${times.join(', ')}`,
  invalidCron: 'The cron expression or the time zone is not valid.',
  noNextRuns: 'This schedule will not run automatically.',
  everySeconds,
  dailyAt: (time: string) => `Daily at ${time} UTC`,
  monthlyAt: (day: number, time: string) => `Monthly on day ${day} at ${time} UTC`,
}

function everySeconds(seconds: number): string {
  if (seconds % 86_400 === 0) return every(seconds / 86_400, 'day', 'days')
  if (seconds % 3_600 === 0) return every(seconds / 3_600, 'hour', 'hours')
  return seconds % 60 === 0 ? every(seconds / 60, 'minute', 'minutes') : every(seconds, 'second', 'seconds')
}

function every(count: number, one: string, many: string): string {
  return count === 1 ? `Every ${one}` : `Every ${plural(count, one, many)}`
}
