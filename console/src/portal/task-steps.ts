import type { PortalText } from '../../../client-text/en.ts'

/** The progress of a task, in words for the client. */
export interface TaskProgress {
  /** What was done so far, in plain words, oldest first. The last one is in progress. */
  steps: string[]
  isFinished: boolean
  /** The task ended without success, so a team member has to reply. */
  needsReply: boolean
  files: { id: string; name: string }[]
  /** The question that waits for the client; null if there is none. */
  questionId: string | null
  /** How often an approval of the client was asked for or decided. */
  approvalChanges: number
}

export interface PortalEvent {
  id: number
  type: string
  data: {
    text?: unknown
    status?: unknown
    artifact_id?: unknown
    name?: unknown
    question_id?: unknown
    approval_id?: unknown
    decision?: unknown
    tool?: unknown
  }
}

export const noProgress: TaskProgress = {
  steps: [],
  isFinished: false,
  needsReply: false,
  files: [],
  questionId: null,
  approvalChanges: 0,
}

export function applyEvent(progress: TaskProgress, { type, data }: PortalEvent, text: PortalText): TaskProgress {
  if (typeof data.question_id === 'string') return applyQuestion(progress, data.question_id, text)
  if (typeof data.approval_id === 'string') return applyApproval(progress, data.decision !== undefined, text)
  if (type === 'task.finished') return { ...progress, isFinished: true, needsReply: data.status !== 'succeeded' }
  if (type === 'artifact.created')
    return { ...progress, files: [...progress.files, { id: String(data.artifact_id), name: String(data.name) }] }
  const step = stepOf(type, data, text)
  // A new turn of the agent says nothing new to the client.
  if (step === null || (type === 'step.started' && progress.steps.length > 0)) return progress
  return addStep(progress, step)
}

/** The first event of a question asks it, the second one decides it. */
function applyQuestion(progress: TaskProgress, id: string, text: PortalText): TaskProgress {
  return progress.questionId === id
    ? { ...addStep(progress, text.progress.working), questionId: null }
    : { ...addStep(progress, text.progress.waiting), questionId: id }
}

function applyApproval(progress: TaskProgress, isDecided: boolean, { progress: words }: PortalText): TaskProgress {
  const step = isDecided ? words.working : words.waitingForApproval
  return { ...addStep(progress, step), approvalChanges: progress.approvalChanges + 1 }
}

const addStep = (progress: TaskProgress, step: string): TaskProgress =>
  progress.steps.at(-1) === step ? progress : { ...progress, steps: [...progress.steps, step] }

/** An event in words for the client; null for one that says nothing new. */
function stepOf(type: string, { text: words, tool }: PortalEvent['data'], text: PortalText): string | null {
  // The agent's questions to the team are not shown to the client.
  if (type === 'progress' && typeof words === 'string')
    return words.startsWith('Missing knowledge:') ? text.progress.working : words
  if (type === 'tool.called' && typeof tool === 'string') return toolStep(tool, text)
  if (type === 'output.validated') return text.progress.checking
  return type === 'step.started' ? text.progress.working : null
}

/** The names of tools mean nothing to a client, so each kind of tool has a sentence. */
const TOOL_WORDS: [RegExp, 'lookingUp' | 'readingFiles' | 'writingFile' | 'calculating'][] = [
  [/^(?:file_read|read_file|list_files)$/, 'readingFiles'],
  [/^(?:write_file|file_attach)$/, 'writingFile'],
  [/^(?:records_|case_|read$|http_get|knowledge)/, 'lookingUp'],
  [/^(?:workflow|run_command|bash)/, 'calculating'],
]

function toolStep(tool: string, { progress }: PortalText): string {
  const found = TOOL_WORDS.find(([pattern]) => pattern.test(tool))
  return found ? progress[found[1]] : progress.acting
}
