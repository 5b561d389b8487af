import type { Flag, IsoTime, JsonText } from './column-types.ts'

export interface AutomationTables {
  schedules: ScheduleRow
  schedule_slots: ScheduleSlotRow
  blueprint_installs: BlueprintInstallRow
  webhooks: WebhookRow
  webhook_deliveries: WebhookDeliveryRow
}

/** A recurring task. */
export interface ScheduleRow {
  id: string
  project_id: string
  name: string
  wedge: string
  task_type: string
  /** How often the task runs. */
  cadence: JsonText
  /** The input of the tasks. */
  input: JsonText
  /** 1: the schedule is on. */
  enabled: Flag
  client_id: string | null
  case_id: string | null
  /** The blueprint that created the schedule. */
  blueprint: string | null
  /** The time from which intervals are counted. */
  anchor_at: IsoTime
  /** When the next task is due. */
  next_run_at: IsoTime | null
  /** When the last task was created. */
  last_run_at: IsoTime | null
  /** The last task. */
  last_task_id: string | null
  last_error: string | null
  created_at: IsoTime
  updated_at: IsoTime
}

/** One row for each due time that fired: the key makes it fire once across all replicas. */
export interface ScheduleSlotRow {
  schedule_id: string
  /** The due time. */
  slot: IsoTime
  /** The task that was created; null: it could not be. */
  task_id: string | null
}

/** A blueprint that a project has installed. */
export interface BlueprintInstallRow {
  project_id: string
  /** The name of the blueprint. */
  blueprint: string
  /** 1: the blueprint has been activated. */
  active: Flag
  created_at: IsoTime
  activated_at: IsoTime | null
}

/** An address to which the service sends events. */
export interface WebhookRow {
  id: string
  project_id: string
  url: string
  /** JSON list of event types. */
  events: JsonText
  /** 1: events are sent. */
  enabled: Flag
  /** Until when the secret before the last rotation is also used to sign. */
  previous_until: IsoTime | null
  created_at: IsoTime
  updated_at: IsoTime
}

/** An event to be delivered to one webhook. The payload is built from the subject, so it is not stored. */
export interface WebhookDeliveryRow {
  webhook_id: string
  /** The id of the event, by which a receiver detects duplicates; the same for all webhooks. */
  id: string
  project_id: string
  /** The type of the event. */
  event: string
  /** The id of what the event is about. */
  subject: string
  status: string
  attempts: number
  /** When the next attempt is due; during an attempt, when the sender counts as crashed. */
  next_at: IsoTime | null
  /** The HTTP status of the last response; null: there was none. */
  last_status: number | null
  last_error: string | null
  created_at: IsoTime
  delivered_at: IsoTime | null
}
