import type { Day } from './column-types.ts'

export interface InsightTables {
  report_runs: ReportRunRow
  report_clients: ReportClientRow
  report_approvals: ReportApprovalRow
}

/** Finished tasks and their cost, summed up by day, wedge and status. */
export interface ReportRunRow {
  project_id: string
  /** The UTC day on which the tasks were created. */
  day: Day
  wedge: string
  status: string
  /** The number of tasks. */
  runs: number
  /** What the models charged, in millionths of a US dollar. */
  cost_micros: number
}

/** Finished tasks and their cost, summed up by period and client. */
export interface ReportClientRow {
  project_id: string
  /** A day or a month. Each day is also summed up in its month, so that long periods are few rows. */
  period: string
  client_id: string
  /** The number of tasks. */
  runs: number
  /** What the models charged, in millionths of a US dollar. */
  cost_micros: number
}

/** Decided approvals, counted by period, status and waiting time. */
export interface ReportApprovalRow {
  project_id: string
  /** A day or a month. */
  period: string
  status: string
  /** About how long a person took to decide; -1 if no person decided. */
  wait_ms: number
  /** The number of approvals. */
  n: number
}
