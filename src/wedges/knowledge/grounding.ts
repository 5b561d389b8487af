import type { Json } from '../../platform/base/json.ts'
import type { NamedText } from '../../platform/contract/agent-protocol.ts'
import type { Wedge } from '../../platform/contract/wedge/wedge-manifest.ts'
import type { Db } from '../../platform/store/store.ts'
import { authoredKnowledgeForTaskType, requireTaskType } from '../library/task-type.ts'
import { takeWithinBudget, rankByRelevance, wordsInInput } from './rank.ts'
import { type GroundingItem, listGroundingItems, findHasKnowledge } from './rows.ts'

const KIB = 1024
/** Separate limits, so that long authored files leave room for live items. */
const MAX_AUTHORED_BYTES = 96 * KIB
const MAX_LIVE_BYTES = 48 * KIB
/** One item must not fill the whole brief. */
const MAX_ITEM_CHARACTERS = 12 * KIB
const MAX_ITEMS = 500

export interface Grounding {
  knowledge: NamedText[]
  /** Names of the items that did not fit completely. */
  left_out: string[]
}

export interface GroundedTask {
  task_type: string
  input: Json
  client_id: string | null
}

/** The knowledge for a run: authored files and live items of the project, most relevant first, within the limits. */
export async function buildGrounding(db: Db, wedge: Wedge, projectId: string, task: GroundedTask): Promise<Grounding> {
  const where = { projectId, wedge: wedge.slug, clientId: task.client_id ?? '' }
  // Most wedges have no live knowledge, and this cached query is cheaper than listing items.
  const [found] = await findHasKnowledge(db, { projectId, wedge: wedge.slug })
  const hasLive = found?.has_knowledge === 1
  const rows = hasLive ? await listGroundingItems(db, { ...where, items: MAX_ITEMS + 1, cut: MAX_ITEM_CHARACTERS }) : []
  const authored = takeWithinBudget(
    authoredKnowledgeForTaskType(wedge, requireTaskType(wedge, task.task_type)),
    MAX_AUTHORED_BYTES,
  )
  // Splitting a large input into words is only worth it if there are items to rank.
  const live = takeWithinBudget(
    hasLive ? rankByRelevance(rows.slice(0, MAX_ITEMS), wordsInInput(task.input)) : [],
    MAX_LIVE_BYTES,
  )
  const cut = live.kept.filter(isCut)
  return {
    knowledge: [...authored.kept, ...live.kept.map(toNamedText)],
    left_out: [
      ...[...authored.leftOut, ...live.leftOut].map(({ name }) => name),
      ...cut.map(({ name }) => `the end of ${name}`),
      ...(rows.length > MAX_ITEMS ? [`everything older than the newest ${MAX_ITEMS} items`] : []),
    ],
  }
}

const isCut = (row: GroundingItem) => row.length > MAX_ITEM_CHARACTERS

function toNamedText(row: GroundingItem): NamedText {
  return { name: row.name, content: isCut(row) ? `${row.content}\n[the rest is left out]` : row.content }
}
