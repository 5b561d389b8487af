import type { IsoTime, JsonText } from './column-types.ts'

export interface WedgeTables {
  knowledge: KnowledgeRow
  knowledge_revisions: KnowledgeRevisionRow
  intake_questions: IntakeQuestionRow
}

/** A piece of knowledge that the agents of a wedge get. */
export interface KnowledgeRow {
  id: string
  project_id: string
  wedge: string
  name: string
  content: string
  /** `note`, `fact`, `correction`, `feedback`, `answer` or `seed`. */
  kind: string
  /** Where it comes from. */
  source: string | null
  /** What the project keeps about it. */
  metadata: JsonText
  /** The task from which it was learned. */
  task_id: string | null
  version: number
  created_at: IsoTime
  updated_at: IsoTime
}

/** An earlier or current version of a piece of knowledge. */
export interface KnowledgeRevisionRow {
  knowledge_id: string
  project_id: string
  version: number
  name: string
  content: string
  /** `note`, `fact`, `correction`, `feedback`, `answer` or `seed`. */
  kind: string
  /** What wrote the version: a member, a key, a task or the system. */
  by_kind: string
  /** The id of the member or key that wrote the version. */
  by_id: string
  /** When the version was written. */
  at: IsoTime
}

/** A question to the team about its business whose answer becomes knowledge. */
export interface IntakeQuestionRow {
  id: string
  project_id: string
  wedge: string
  /** For a question of the manifest, its id there; otherwise a hash of the text, so that the same question is one row. */
  question_id: string
  question: string
  /** Why the answer is needed. */
  why: string | null
  /** `seed` for a question of the manifest, `gap` for one of an agent. */
  kind: string
  status: string
  answer: string | null
  /** The knowledge that the answer became. */
  knowledge_id: string | null
  /** The task whose agent asked first. */
  task_id: string | null
  /** How often agents have asked. */
  asked: number
  created_at: IsoTime
  updated_at: IsoTime
}
