import { type Expression, type SqlBool, sql } from 'kysely'
import { isPostgres } from '../../platform/store/dialect.ts'
import {
  isInList,
  type ListArgument,
  tableOf,
  toListArgument,
  toRowsArgument,
} from '../../platform/store/list-argument.ts'
import { prepareQuery } from '../../platform/store/prepared-query.ts'
import { prepareManyRows } from '../../platform/store/prepared-rows.ts'
import type { Db } from '../../platform/store/store.ts'
import { APPROVAL_COLUMNS, type RollupApproval, type RollupTask, type SourceName, TASK_COLUMNS } from './rollup-rows.ts'
import type { ReportRange } from './rows.ts'

/** A step reads this many rows of each project, on SQLite one project after another: about 10 ms each. */
export const LIVE_ROWS_PER_STEP = 1000

/** The tasks of the range that are not in the sums, in steps. */
export const readLiveTasks = (db: Db, range: ReportRange) => readLiveRows(db, range, LIVE_TASKS)

/** The approvals of the range that are not in the sums, in steps. */
export const readLiveApprovals = (db: Db, range: ReportRange) => readLiveRows(db, range, LIVE_APPROVALS)

interface LiveRow {
  id: string
  project_id: string
  /** Null for a row that was deleted. */
  created_at: string | null
}

/** How the rows of one table that are not in the sums are read. */
interface LiveSource<Row> {
  /** The marks of the rollup, of the projects that have rows after it. */
  listMarks: (db: Db, projectIds: readonly string[]) => Promise<Step[]>
  /** Reads the next rows in `report_open`, which lie before the mark. */
  readOpen: ReadSteps<Row>
  /** Reads the next rows after the mark. */
  readNew: ReadSteps<Row>
}

/** The next rows of a project come after this id. */
interface Step {
  projectId: string
  after: string
}

type ReadSteps<Row> = (db: Db, steps: readonly Step[]) => Promise<Row[]>

/** The open rows up to the mark of the rollup, and all rows after it. */
async function* readLiveRows<Row extends LiveRow>(
  db: Db,
  { projectIds, from, to }: ReportRange,
  { listMarks, readOpen, readNew }: LiveSource<Row>,
): AsyncGenerator<Row[]> {
  const parts = [
    { readSteps: readOpen, start: projectIds.map((projectId) => ({ projectId, after: '' })) },
    { readSteps: readNew, start: await listMarks(db, projectIds) },
  ]
  for (const { readSteps, start } of parts) {
    for (let steps = start; steps.length > 0; ) {
      const rows = await readSteps(db, steps)
      yield rows.filter(({ created_at }) => created_at !== null && created_at >= from && created_at.slice(0, 10) <= to)
      steps = findNextSteps(rows)
    }
  }
}

/** The projects that may have more rows. */
function findNextSteps(rows: readonly LiveRow[]): Step[] {
  const read = new Map<string, { count: number; after: string }>()
  for (const { project_id, id } of rows) {
    const { count, after } = read.get(project_id) ?? { count: 0, after: '' }
    read.set(project_id, { count: count + 1, after: id > after ? id : after })
  }
  return [...read].flatMap(([projectId, { count, after }]) =>
    count < LIVE_ROWS_PER_STEP ? [] : [{ projectId, after }],
  )
}

const LIVE_TASKS: LiveSource<RollupTask> = {
  ...prepareReads<RollupTask>('tasks', TASK_COLUMNS),
  listMarks: prepareMarks('tasks'),
}

const LIVE_APPROVALS: LiveSource<RollupApproval> = {
  ...prepareReads<RollupApproval>('approvals', APPROVAL_COLUMNS),
  listMarks: prepareMarks('approvals'),
}

/** The marks of the projects that have rows after them: those that were active in the last seconds. */
function prepareMarks(source: SourceName): LiveSource<unknown>['listMarks'] {
  const list = prepareQuery<{ projectIds: ListArgument }, Step>((db, arg) => {
    const mark = sql<string>`coalesce(report_marks.folded_to, '')`
    const hasNewRows = sql<SqlBool>`exists (select 1 from ${sql.table(source)} as newer
      where newer.project_id = projects.id and newer.id > ${mark})`
    return db
      .selectFrom('projects')
      .leftJoin('report_marks', (join) =>
        join.onRef('report_marks.project_id', '=', 'projects.id').on('report_marks.source', '=', sql.lit(source)),
      )
      .select(['projects.id as projectId', mark.as('after')])
      .where(isInList(db, 'projects.id', arg('projectIds')))
      .where(hasNewRows)
  })
  return (db, projectIds) => list(db, { projectIds: toListArgument(db, projectIds) })
}

function prepareReads<Row extends LiveRow>(
  source: SourceName,
  columns: readonly (keyof Row & string)[],
): Pick<LiveSource<Row>, 'readOpen' | 'readNew'> {
  const table = sql<LiveRow>`${sql.table(source)}`.as('live_rows')
  const selected = columns.map((column) => sql.ref(`live_rows.${column}`).as(column))
  const others = selected.filter(({ alias }) => alias !== 'id' && alias !== 'project_id')
  const readNew = prepareManyRows<Step, Row>(columns, (db, arg) =>
    db
      .selectFrom(table)
      .select(selected)
      .where('live_rows.project_id', '=', arg('projectId'))
      .where('live_rows.id', '>', arg('after'))
      .orderBy('live_rows.id')
      .limit(LIVE_ROWS_PER_STEP)
      .$castTo<Row>(),
  )
  const readOpen = prepareManyRows<Step, Row>(columns, (db, arg) => {
    const ids = openIds(db, source, { projectId: arg('projectId'), after: arg('after') })
    return db
      .selectFrom(ids.as('open_ids'))
      .leftJoin(table, 'live_rows.id', 'open_ids.id')
      .select(['open_ids.id', sql`${arg('projectId')}`.as('project_id'), ...others])
      .$castTo<Row>()
  })
  // One statement for all projects, because planning takes as long as reading.
  const readOpenOfAll = prepareQuery<{ steps: string }, Row>((db, arg) => {
    const ids = openIds(db, source, { projectId: sql.ref('steps.project_id'), after: sql.ref('steps.after_id') })
    // The offset keeps the planner from a join that reads the whole table.
    const rows = db.selectFrom(table).select(others).whereRef('live_rows.id', '=', sql.ref('open_ids.id')).offset(0)
    return db
      .selectFrom(tableOf(db, arg('steps'), ['project_id', 'after_id']).as('steps'))
      .innerJoinLateral(ids.as('open_ids'), (join) => join.onTrue())
      .leftJoinLateral(rows.as('live_rows'), (join) => join.onTrue())
      .select(['open_ids.id', 'steps.project_id', ...others])
      .$castTo<Row>()
  })
  return {
    readOpen: (db, steps) =>
      isPostgres(db)
        ? readOpenOfAll(db, { steps: toRowsArgument(steps.map(({ projectId, after }) => [projectId, after])) })
        : readEach(db, steps, readOpen),
    readNew: (db, steps) => readEach(db, steps, readNew),
  }
}

async function readEach<Row>(
  db: Db,
  steps: readonly Step[],
  readStep: (db: Db, step: Step) => Promise<Row[]>,
): Promise<Row[]> {
  let rows: Row[] = []
  for (const step of steps) rows = rows.concat(await readStep(db, step))
  return rows
}

type Value = string | Expression<string>

const openIds = (db: Db, source: SourceName, { projectId, after }: Record<keyof Step, Value>) =>
  db
    .selectFrom('report_open')
    .select('id')
    .where('project_id', '=', projectId)
    .where('source', '=', sql.lit(source))
    .where('id', '>', after)
    .orderBy('id')
    .limit(LIVE_ROWS_PER_STEP)
