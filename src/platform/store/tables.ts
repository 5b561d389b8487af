import type { ApprovalTables } from './tables/approvals.ts'
import type { AuditTables } from './tables/audit.ts'
import type { AutomationTables } from './tables/automation.ts'
import type { ConnectionTables } from './tables/connections.ts'
import type { ConversationTables } from './tables/conversations.ts'
import type { CustomerTables } from './tables/customers.ts'
import type { ExecutionTables } from './tables/execution.ts'
import type { IdentityTables } from './tables/identity.ts'
import type { InsightTables } from './tables/insight.ts'
import type { NotificationTables } from './tables/notifications.ts'
import type { RecordTables } from './tables/records.ts'
import type { WedgeTables } from './tables/wedges.ts'
import type { WorkTables } from './tables/work.ts'

export type * from './tables/approvals.ts'
export type * from './tables/audit.ts'
export type * from './tables/automation.ts'
export type * from './tables/connections.ts'
export type * from './tables/conversations.ts'
export type * from './tables/customers.ts'
export type * from './tables/execution.ts'
export type * from './tables/identity.ts'
export type * from './tables/insight.ts'
export type * from './tables/notifications.ts'
export type * from './tables/records.ts'
export type * from './tables/wedges.ts'
export type * from './tables/work.ts'

/**
 * The rows of each table. Columns are text or numbers, so that one schema serves both stores: JSON and ISO times are text,
 * booleans are 0 or 1, and money is whole micro-dollars.
 *
 * PostgreSQL gets the comments of the rows too, and the types of their columns say what they are in the views for SQL tools
 * (`docs/sql.md`).
 */
export interface Tables
  extends IdentityTables,
    AuditTables,
    ExecutionTables,
    WorkTables,
    RecordTables,
    ApprovalTables,
    NotificationTables,
    ConnectionTables,
    CustomerTables,
    ConversationTables,
    WedgeTables,
    AutomationTables,
    InsightTables {}
