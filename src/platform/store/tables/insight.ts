import type { Day } from './column-types.ts'

export interface InsightTables {
  report_marks: ReportMarkRow
  report_open: ReportOpenRow
  report_runs: ReportRunRow
  report_clients: ReportClientRow
  report_approvals: ReportApprovalRow
}

/** How far the tasks or approvals of a project are summed up: every row up to this id is in the sums or in `report_open`. */
export interface ReportMarkRow {
  project_id: string
  /** What is summed up: tasks or approvals. */
  source: string
  /** The id up to which rows are summed up. */
  folded_to: string
}

/** Rows before the mark that were not final when it passed them. */
export interface ReportOpenRow {
  project_id: string
  /** What is summed up: tasks or approvals. */
  source: string
  id: string
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
  /** A day, a month or a year. Each day is also summed up in its month and its year, so that long periods are few rows. */
  span: string
  client_id: string
  /** The number of tasks. */
  runs: number
  /** What the models charged, in millionths of a US dollar. */
  cost_micros: number
}

/** Decided approvals, counted by period, status and waiting time. */
export interface ReportApprovalRow {
  project_id: string
  /** A day, a month or a year. */
  span: string
  status: string
  /** About how long a person took to decide; -1 if no person decided. */
  wait_ms: number
  /** The number of approvals. */
  n: number
}
