import type { Json } from '../base/json.ts'
import type { NamedText } from '../contract/agent-protocol.ts'
import type { Wedge } from '../contract/wedge-manifest.ts'
import type { Db } from '../store/store.ts'
import { authoredKnowledgeForTaskType, requireTaskType } from '../wedges/task-type.ts'
import { takeWithinBudget, rankByRelevance, wordsInInput } from './rank.ts'
import { type GroundingItem, listGroundingItems, findHasKnowledge } from './rows.ts'

const KIB = 1024
/** Each has its own share, so that long files cannot crowd out what people taught since. */
const MAX_AUTHORED_BYTES = 96 * KIB
const MAX_LIVE_BYTES = 48 * KIB
/** No single item may fill the brief. */
const MAX_ITEM_CHARACTERS = 12 * KIB
const MAX_ITEMS = 500

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
export async function buildGrounding(db: Db, wedge: Wedge, projectId: string, task: GroundedTask): Promise<Grounding> {
  const where = { projectId, wedge: wedge.slug, clientId: task.client_id ?? '' }
  // Most wedges have been taught nothing yet, and every run pays for the question.
  const [known] = await findHasKnowledge(db, { projectId, wedge: wedge.slug })
  const taught = known?.taught === 1
  const rows = taught ? await listGroundingItems(db, { ...where, items: MAX_ITEMS + 1, cut: MAX_ITEM_CHARACTERS }) : []
  const authored = takeWithinBudget(
    authoredKnowledgeForTaskType(wedge, requireTaskType(wedge, task.task_type)),
    MAX_AUTHORED_BYTES,
  )
  // The words of a large input are only worth finding where there is something to rank.
  const live = takeWithinBudget(
    taught ? rankByRelevance(rows.slice(0, MAX_ITEMS), wordsInInput(task.input)) : [],
    MAX_LIVE_BYTES,
  )
  const cut = live.kept.filter(isCut)
  return {
    knowledge: [...authored.kept, ...live.kept.map(toNamedText)],
    left_out: [
      ...[...authored.left, ...live.left].map(({ name }) => name),
      ...cut.map(({ name }) => `the end of ${name}`),
      ...(rows.length > MAX_ITEMS ? [`everything older than the newest ${MAX_ITEMS} items`] : []),
    ],
  }
}

const isCut = (row: GroundingItem) => row.length > MAX_ITEM_CHARACTERS

function toNamedText(row: GroundingItem): NamedText {
  return { name: row.name, content: isCut(row) ? `${row.content}\n[the rest is left out]` : row.content }
}
