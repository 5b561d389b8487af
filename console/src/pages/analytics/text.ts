import { plural } from '../../ui/plural.ts'
import { uiText } from '../../ui/text.ts'

export const analyticsText = {
  title: 'Analytics',
  lead: 'Tasks, cost and approvals by day (UTC).',
  period: 'Period',
  days: (count: number) => plural(count, 'day', 'days'),
  tasks: 'Tasks',
  successRate: 'Success rate',
  totalCost: 'Total cost',
  medianApprovalTime: 'Median approval time',
  none: '—',
  tasksPerDay: 'Tasks per day',
  costPerDay: 'Cost per day',
  succeeded: (count: string) => `${count} succeeded`,
  peak: (value: string) => `peak ${value}`,
  chart: (title: string, total: string, days: number, peak: string) =>
    `${title}: ${total} in ${plural(days, 'day', 'days')}, peak ${peak} per day`,
  byWedge: 'By wedge',
  wedgeColumns: ['Wedge', 'Tasks', 'Success rate', 'Cost'],
  noTasks: 'No tasks in this period.',
  approvals: 'Approvals',
  approvalColumns: ['Status', 'Count'],
  approvalCounts: { requested: 'Requested', ...uiText.approvalStatus },
}
