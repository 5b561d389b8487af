import { AT, CHANNEL, CLIENT, idOf, PROJECT, TASKS_PER_CLIENT, WEBHOOK, WEDGE } from './expressions.ts'

const CLIENT_NUMBER = `i / ${TASKS_PER_CLIENT}`

const CLIENTS = `
  insert into clients (id, project_id, display_name, metadata, created_at, updated_at)
  NUMBERS select ${idOf('cli', CLIENT_NUMBER)}, ${PROJECT}, 'Client ' || cast(${CLIENT_NUMBER} as text), '{}', ${AT}, ${AT}
    from n where i % ${TASKS_PER_CLIENT} = 0`

const HANDLES = `
  insert into client_handles (project_id, handle, shown, client_id)
  NUMBERS select ${PROJECT}, 'client' || cast(${CLIENT_NUMBER} as text) || '@example.com',
    'client' || cast(${CLIENT_NUMBER} as text) || '@example.com', ${idOf('cli', CLIENT_NUMBER)}
    from n where i % ${TASKS_PER_CLIENT} = 0`

/** One thread of five is open. One of two hundred is unread, unanswered, or taken over by a member. */
const THREADS = `
  insert into threads (id, project_id, channel_id, client_id, subject, status, message_count, conversation_key, read_count,
    unanswered_at, unanswered_reason, held_by_kind, held_by_id, client_notified_count, client_read_count, created_at, updated_at)
  NUMBERS select ${idOf('thr')}, ${PROJECT}, ${CHANNEL}, ${CLIENT}, 'Order ' || cast(i as text),
    case when i % 50 = 10 then 'open' else 'closed' end, 5, '', case when i % 2000 = 10 then 3 else 5 end,
    case when i % 2000 = 20 then ${AT} end, case when i % 2000 = 20 then 'failed' end,
    case when i % 2000 = 30 then 'member' end, case when i % 2000 = 30 then ${idOf('mem', '0')} end, 5, 5, ${AT}, ${AT}
    from n where i % 10 = 0`

const MESSAGES = `
  insert into messages (id, n, project_id, thread_id, channel_id, direction, from_handle, body, task_id, external_id, created_at)
  NUMBERS select ${idOf('msg', 'i * 10 + k')}, k, ${PROJECT}, ${idOf('thr')}, ${CHANNEL},
    case when k % 2 = 1 then 'inbound' else 'outbound' end, 'client' || cast(${CLIENT_NUMBER} as text) || '@example.com',
    'Where is my parcel? The order has the number ' || cast(i as text) || ', and it should have come last week.',
    ${idOf('task')}, cast(i as text) || '-' || cast(k as text), ${AT}
    from n cross join (select 1 as k union all select 2 union all select 3 union all select 4 union all select 5) as five
    where i % 10 = 0`

const CASES = `
  insert into cases (id, project_id, wedge, title, stage, status, client_id, thread_id, assignee_id, data, created_at,
    updated_at, closed_at)
  NUMBERS select ${idOf('case')}, ${PROJECT}, ${WEDGE}, 'Case ' || cast(i as text), case when i % 200 = 0 then 'new' else 'done' end,
    case when i % 200 = 0 then 'open' else 'closed' end, ${CLIENT}, ${idOf('thr')},
    case when i % 4000 = 0 then ${idOf('mem', '0')} end, '{"amount":12}', ${AT}, ${AT},
    case when i % 200 = 0 then null else ${AT} end from n where i % 20 = 0`

const CASE_HISTORY = `
  insert into case_history (case_id, n, from_stage, to_stage, at, by_kind, by_id)
  NUMBERS select ${idOf('case')}, 1, null, 'new', ${AT}, 'key', 'key_before' from n where i % 20 = 0`

const COLLECTION = "case i / 5 % 4 when 0 then 'invoices' when 1 then 'orders' else 'notes' end"

const RECORDS = `
  insert into records (id, project_id, wedge, collection, key, value, version, created_at, updated_at)
  NUMBERS select ${idOf('rec')}, ${PROJECT}, ${WEDGE}, ${COLLECTION},
    'k' || cast(i as text), '{"state":"done"}', 1, ${AT}, ${AT} from n where i % 5 = 1`

const RECORD_FIELDS = `
  insert into record_fields (record_id, project_id, collection, path, sort_key)
  NUMBERS select ${idOf('rec')}, ${PROJECT}, ${COLLECTION}, 'state', 'sdone' from n where i % 5 = 1`

const FILES = `
  insert into files (id, project_id, client_id, name, content_type, size, sha256, state, storage, created_by, created_at)
  NUMBERS select ${idOf('file')}, ${PROJECT}, ${CLIENT}, 'invoice.pdf', 'application/pdf', 1000, '00', 'stored',
    'database', 'key_before', ${AT} from n where i % 20 = 0`

const MESSAGE_FILES = `
  insert into message_files (message_id, n, file_id)
  NUMBERS select ${idOf('msg', 'i * 10 + 1')}, 1, ${idOf('file')} from n where i % 20 = 0`

const KNOWLEDGE = `
  insert into knowledge (id, project_id, wedge, name, content, kind, metadata, version, created_at, updated_at)
  NUMBERS select ${idOf('kn')}, ${PROJECT}, ${WEDGE}, 'item ' || cast(i as text), 'Parcels take three days.',
    case when i % 1000 = 0 then 'correction' else 'note' end, '{}', 1, ${AT}, ${AT} from n where i % 200 = 0`

const CONNECTIONS = `
  insert into connections (id, project_id, owner_kind, owner_id, kind, name, config, created_at, updated_at)
  NUMBERS select ${idOf('conn')}, ${PROJECT}, 'client', ${idOf('cli', CLIENT_NUMBER)}, 'custom', 'crm', '{}', ${AT}, ${AT}
    from n where i % 100 = 50`

const SCHEDULES = `
  insert into schedules (id, project_id, name, wedge, task_type, cadence, input, enabled, anchor_at, created_at, updated_at)
  NUMBERS select ${idOf('sch')}, ${PROJECT}, 'Every day', ${WEDGE}, 'say', '{"kind":"daily","at":"09:00"}', '{}', 0, ${AT}, ${AT}, ${AT}
    from n where i % 5000 = 0`

/** The service removes old deliveries, so these are recent. */
const DELIVERIES = `
  insert into webhook_deliveries (webhook_id, id, project_id, event, subject, status, attempts, created_at, delivered_at)
  NUMBERS select ${WEBHOOK}, ${idOf('dlv')}, ${PROJECT}, 'task.finished', ${idOf('task')},
    case when i % 1000 = 5 then 'failed' else 'delivered' end, 1, 'NOW', 'NOW' from n where i % 10 = 5`

export const CLIENT_STATEMENTS = [
  CLIENTS,
  HANDLES,
  THREADS,
  MESSAGES,
  CASES,
  CASE_HISTORY,
  RECORDS,
  RECORD_FIELDS,
  FILES,
  MESSAGE_FILES,
  KNOWLEDGE,
  CONNECTIONS,
  SCHEDULES,
  DELIVERIES,
]
