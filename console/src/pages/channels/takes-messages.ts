import { toObject, toText } from '../../api/json.ts'
import type { Json, JsonObject, WedgeManifest } from '../../api/types.ts'

/** What the input of a task that a message starts has, with the types of the values. */
const MESSAGE_TYPES: Record<string, string[]> = {
  from: ['object'],
  body: ['string'],
  subject: ['string', 'null'],
  thread_id: ['string'],
}

/** The names of the fields of a message. */
export const MESSAGE_FIELDS = Object.keys(MESSAGE_TYPES)

type TaskType = WedgeManifest['task_types'][string]

/** Whether the task type takes a message and answers it. */
export function answersMessages({ input_schema, output_schema }: TaskType): boolean {
  const { required, properties } = input_schema ?? {}
  const isGiven = Array.isArray(required) ? required.map(toText).every((name) => MESSAGE_FIELDS.includes(name)) : true
  const isOfType = Object.entries(MESSAGE_TYPES).every(([name, types]) => {
    const declared = typesOf(toObject(properties ?? null)[name])
    return declared.length === 0 || declared.some((type) => types.includes(type))
  })
  return isGiven && isOfType && hasReply(output_schema)
}

const hasReply = (outputSchema: JsonObject | undefined) => 'reply' in toObject(outputSchema?.['properties'])

/** Whether the output of the task type is declared and has no reply, which the service would give to the client. */
export const lacksReply = ({ output_schema }: TaskType): boolean =>
  output_schema?.['properties'] !== undefined && !hasReply(output_schema)

const typesOf = (property: Json): string[] =>
  [toObject(property ?? null)['type'] ?? []].flat().filter((type) => typeof type === 'string')

/** The action of a reply where no service carries the messages; null: it needs no approval. */
export function findOwnServerAction({ approvals = [] }: Pick<WedgeManifest, 'approvals'>): string | null {
  const isAsked = approvals.some(
    ({ action, required, is_reply }) => is_reply || (required && action.toLowerCase() === 'reply'),
  )
  if (isAsked) return 'portal:reply'
  return approvals.find(({ action }) => action.toLowerCase().endsWith(':reply'))?.action ?? null
}
