import type { Json } from '../base/json.ts'
import type { NamedText } from '../base/protocol.ts'
import type { Wedge } from '../base/wedge.ts'
import type { Db } from '../store/store.ts'
import { authoredFor, requireTaskType } from '../wedges/task-type.ts'
import { fitting, ranked, wordsOf } from './rank.ts'
import { type GroundingRow, groundingItems, taughtTo } from './rows.ts'

const KIB = 1024
/** Each has its own share, so that long files cannot crowd out what people taught since. */
const AUTHORED_MOST = 96 * KIB
const LIVE_MOST = 48 * KIB
/** No single item may fill the brief. */
const ITEM_MOST = 12 * KIB
const ITEMS_MOST = 500

export interface Grounding {
  knowledge: NamedText[]
  /** Names of what did not fit, or did not fit whole. */
  left_out: string[]
}

export interface GroundedTask {
  task_type: string
  input: Json
  client_id: string | null
}

/** What a run knows: the author's files and the project's live items, as far as they fit, the most useful first. */
export async function groundingFor(db: Db, wedge: Wedge, projectId: string, task: GroundedTask): Promise<Grounding> {
  const where = { projectId, wedge: wedge.slug, clientId: task.client_id ?? '' }
  // Most wedges have been taught nothing yet, and every run pays for the question.
  const [known] = await taughtTo(db, { projectId, wedge: wedge.slug })
  const taught = known?.taught === 1
  const rows = taught ? await groundingItems(db, { ...where, items: ITEMS_MOST + 1, cut: ITEM_MOST }) : []
  const authored = fitting(authoredFor(wedge, requireTaskType(wedge, task.task_type)), AUTHORED_MOST)
  // The words of a large input are only worth finding where there is something to rank.
  const live = fitting(taught ? ranked(rows.slice(0, ITEMS_MOST), wordsOf(task.input)) : [], LIVE_MOST)
  const cut = live.kept.filter(isCut)
  return {
    knowledge: [...authored.kept, ...live.kept.map(asText)],
    left_out: [
      ...[...authored.left, ...live.left].map(({ name }) => name),
      ...cut.map(({ name }) => `the end of ${name}`),
      ...(rows.length > ITEMS_MOST ? [`everything older than the newest ${ITEMS_MOST} items`] : []),
    ],
  }
}

const isCut = (row: GroundingRow) => row.length > ITEM_MOST

function asText(row: GroundingRow): NamedText {
  return { name: row.name, content: isCut(row) ? `${row.content}\n[the rest is left out]` : row.content }
}
