import { AT, CLIENT, idOf, PROJECT, TASKS_PER_CLIENT, WAITS, WEDGE } from './expressions.ts'

/** Of a hundred tasks 80 succeeded; some wait for an approval. The statuses are spread evenly over wedges and clients. */
const TASK_STATUS = `case when ${WAITS} then 'awaiting_approval' when i * 31 % 100 < 80 then 'succeeded'
  when i * 31 % 100 < 88 then 'failed' when i * 31 % 100 < 92 then 'rejected' when i * 31 % 100 < 96 then 'expired'
  else 'cancelled' end`

const TASKS = `
  insert into tasks (id, project_id, wedge, task_type, status, input, actor, constraints, tools, output, cost_micros,
    client_id, thread_id, case_id, last_event_id, epoch, replica, created_at, started_at, finished_at)
  NUMBERS select ${idOf('task')}, ${PROJECT}, ${WEDGE}, 'say', ${TASK_STATUS},
    '{"text":"hello"}', 'null', '{"max_runtime_s":1800,"max_cost_usd":5,"approval_required":false}', '[]',
    '{"said":{"text":"hello"}}', i % 997, case when i % ${TASKS_PER_CLIENT} < 30 then ${CLIENT} end,
    case when i % 10 = 0 then ${idOf('thr')} end, case when i % 20 = 0 then ${idOf('case')} end,
    5, 1, case when ${WAITS} then null else 'rep_before' end, ${AT}, ${AT}, case when ${WAITS} then null else ${AT} end from n`

const EVENTS = `
  insert into events (task_id, seq, type, ts, data)
  NUMBERS select ${idOf('task')}, seq, type, ${AT}, data from n cross join (
    select 1 as seq, 'task.created' as type,
      '{"wedge":"bench","task_type":"say","status":"running","sandbox":"bwrap","model":"rehearsal"}' as data
    union all select 2, 'step.started', '{"step":1,"label":"Turn 1"}'
    union all select 3, 'output.validated', '{"ok":true,"errors":[]}'
    union all select 4, 'artifact.created', '{"artifact_id":"art","name":"output.json","size":26,"url":"/v1/artifacts/art"}'
    union all select 5, 'task.finished', '{"status":"succeeded","duration_ms":12}') as said`

const ARTIFACTS = `
  insert into artifacts (id, project_id, task_id, name, content_type, size, created_at)
  NUMBERS select ${idOf('art')}, ${PROJECT}, ${idOf('task')}, 'output.json', 'application/json', 26, ${AT} from n`

const DECIDED_STATUS =
  "case i / 5 % 10 when 0 then 'rejected' when 1 then 'expired' when 2 then 'approved' else 'auto_approved' end"

const APPROVALS = `
  insert into approvals (id, project_id, task_id, wedge, task_type, action, risk, path, payload, payload_sha256, status,
    client_id, assignee_id, created_at, expires_at, decided_at, decided_by_kind, decided_by_id)
  NUMBERS select ${idOf('apr')}, ${PROJECT}, ${idOf('task')}, ${WEDGE}, 'say', 'records_get', 'low',
    case when i % 2000 in (0, 500) then 'question' else 'tool' end, '{"to":"somebody@example.com"}', '00',
    case when ${WAITS} then 'pending' else ${DECIDED_STATUS} end, case when i % 100 = 0 then ${CLIENT} end,
    case when i % 2000 = 0 then ${idOf('mem', '0')} end, ${AT}, '2100-01-01T00:00:00.000Z',
    case when ${WAITS} then null else ${AT} end, 'key', 'key_before' from n where i % 5 = 0`

const EFFECTS = `
  insert into effects (id, project_id, task_id, connection_id, connection, action, payload_sha256, outcome, status,
    replica, created_at, finished_at)
  NUMBERS select ${idOf('apr')}, ${PROJECT}, ${idOf('task')}, 'conn_before', 'mail', 'send', '00', 'ok', 200, 'rep_before',
    ${AT}, ${AT} from n where i % 25 = 5`

const COMMENTS = `
  insert into approval_comments (id, project_id, approval_id, body, author_kind, author_id, created_at)
  NUMBERS select ${idOf('cmt')}, ${PROJECT}, ${idOf('apr')}, 'Please look at this.', 'key', 'key_before', ${AT}
    from n where i % 200 = 0`

/** One entry for each task, all of them in the chain of the first project. */
const AUDIT_ENTRIES = `
  insert into audit_entries (chain, seq, ts, actor_kind, actor_id, action, subject, data, prev_hash, hash)
  NUMBERS select 'FOUNDING', FIRST_ENTRY + i, ${AT}, 'key', 'key_before',
    case when i % 100 = 7 then 'approval.approved' when i % 2 = 0 then 'task.created' else 'task.finished' end,
    ${idOf('task')}, '{"task_type":"say","wedge":"bench"}', 'before', 'after' from n`

export const TASK_STATEMENTS = [TASKS, EVENTS, ARTIFACTS, APPROVALS, EFFECTS, COMMENTS, AUDIT_ENTRIES]
