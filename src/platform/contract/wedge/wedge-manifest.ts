import { z } from 'zod'
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts'
import { SLUG } from '../../base/text.ts'
import type { NamedText } from '../agent-protocol.ts'
import type { SkillFolder } from './skill-folder.ts'
import { TOOL_GROUPS } from '../tool-names.ts'

export const slugSchema = z.string().regex(SLUG, 'must be a slug: a-z, 0-9, _ and -')
const jsonSchemaObject = z.custom<JsonObject>(isJsonObject, 'must be an object')

/** A program in the folder of the wedge. Strict, because a misspelt key would start it in another way. */
const HarnessAgent = z.strictObject({
  dir: z
    .string()
    .max(200)
    .regex(
      /^(?!.*(?:^|\/)\.{1,2}(?:\/|$))[^/\0\\][^\0\\]*$/,
      'must be the path of a folder below the wedge, such as agent',
    ),
  command: z
    .string()
    .max(2000)
    .regex(/^[^\0\n\r]*\S[^\0\n\r]*$/, 'must be one line, such as python3 agent.py'),
})

const Harness = z.object({
  shape: z.enum(['agent', 'decide', 'workflow']).default('agent'),
  max_runtime_s: z.number().positive().optional(),
  max_cost_usd: z.number().positive().optional(),
  strict_output: z.boolean().default(false),
  needs_connections: z.boolean().default(false),
  /** A run continues from its last stored turn after the death of its replica. */
  resume: z.boolean().default(false),
  /** Does the task instead of the bundled agent. */
  agent: HarnessAgent.optional(),
  /** The memory of a custom agent in MiB; 1,024 if it is absent. */
  memory_mb: z.number().int().min(256).optional(),
  /** The model is that of `SVC_MODEL_<TIER>`, if the deployment has one. */
  tier: slugSchema.optional(),
  temperature: z.number().min(0).max(2).optional(),
  steps: z.number().int().positive().max(200).default(20),
  skills: z.array(z.string()).optional(),
  instructions: z.array(z.string()).optional(),
})

export const TaskType = z.object({
  description: z.string().optional(),
  harness: Harness.prefault({}),
  input_schema: jsonSchemaObject.optional(),
  /** An input for trying the task type out; `rehearsals/<type>.input.json` has the same meaning. */
  example: z.custom<Json>((value) => value !== undefined).optional(),
  output_schema: jsonSchemaObject.optional(),
})

/** Strict, because a misspelt limit would silently not apply. */
export const PolicyRule = z.strictObject({
  action: z.string().min(1),
  max_amount_usd: z.number().nonnegative().optional(),
  max_per_task: z.number().int().nonnegative().optional(),
  max_per_day: z.number().int().nonnegative().optional(),
})
export type PolicyRule = z.infer<typeof PolicyRule>

/** Strict, because a misspelt `tools` would grant every tool. */
const NarrowedConnection = z.strictObject({ name: z.string().min(1), tools: z.array(z.string().min(1)) })

const DeclaredConnection = z.custom<string | z.infer<typeof NarrowedConnection>>(
  (value) => typeof value === 'string' || NarrowedConnection.safeParse(value).success,
  'must be a name, or an object with name and tools',
)

/** With two entries for one name it would not be clear which tools are meant. */
const isNamedOnce = (connections: z.infer<typeof DeclaredConnection>[]): boolean => {
  const names = connectionNames({ connections })
  return connections.every(
    (declared) => typeof declared === 'string' || names.filter((name) => name === declared.name).length === 1,
  )
}

const DECIDING_ROLES = ['operator', 'admin', 'owner']

/** The word for the client of the task among the approvers. */
export const CLIENT_APPROVER = 'client'

const MEMBER_APPROVERS = `${DECIDING_ROLES.join('|')}|mem_\\w+|\\S+@\\S+`
const MEMBER_APPROVERS_TEXT = 'operator, admin, owner, the id of a member, or the mail address of a member'

/** One or several. A misspelt role would name a member that does not exist, and the approval could never be decided. */
function approverList(pattern: string, message: string) {
  const approver = z.string().regex(new RegExp(`^(?:${pattern})$`), message)
  return z
    .union([approver, z.array(approver).min(1).max(50)], `${message}; or a list of 1 to 50 of these`)
    .transform((approvers) => [approvers].flat())
}

/** Roles, members by their id or mail address, and the client of the task. */
const Approvers = approverList(
  `${CLIENT_APPROVER}|${MEMBER_APPROVERS}`,
  `must be ${MEMBER_APPROVERS_TEXT}, or ${CLIENT_APPROVER}`,
)

/** The client is asked when the request is made, or never: a later step adds people of the team. */
const EscalationApprovers = approverList(
  MEMBER_APPROVERS,
  `must be ${MEMBER_APPROVERS_TEXT}; the client can only be in 'approvers'`,
)

const DeclaredApproval = z
  .object({
    action: z.string().min(1),
    risk: z.enum(['low', 'medium', 'high']).default('medium'),
    required: z.boolean().default(false),
    /**
     * The action is the step in which the reply to the client is approved. It needs no approval in a conversation whose reply
     * needs one itself.
     */
    is_reply: z.boolean().default(false),
    /** How long an approval waits for a decision, in seconds; without it, `SVC_APPROVAL_TTL_S`. */
    ttl_s: z.number().int().min(1).optional(),
    /** Who may decide: roles, members, and the client of the task. Without it, everyone whose role allows decisions. */
    approvers: Approvers.optional(),
    /** How many different people must approve the same payload. */
    needed: z.number().int().min(1).max(10).default(1),
    /** The member or key that started the task may not decide. */
    exclude_requester: z.boolean().default(false),
    /** Who is asked as well if there is no decision by then. From then on they may decide, too. */
    escalate: z
      .array(z.object({ after_s: z.number().int().min(1), to: EscalationApprovers }))
      .max(5)
      .default([]),
  })
  .refine(hasEnoughApprovers, { path: ['needed'], error: 'must not be more than the number of approvers' })

function hasEnoughApprovers({
  needed,
  approvers,
  escalate,
}: {
  needed: number
  approvers?: string[] | undefined
  escalate: { to: string[] }[]
}) {
  return countPossibleApprovers(approvers ?? null, escalate) >= needed
}

/** How many people can approve, after all steps of the escalation. A role may have any number of members. */
export function countPossibleApprovers(approvers: string[] | null, escalate: { to: string[] }[]): number {
  const people = new Set([...(approvers ?? DECIDING_ROLES), ...escalate.flatMap(({ to }) => to)])
  return DECIDING_ROLES.some((role) => people.has(role)) ? Number.POSITIVE_INFINITY : people.size
}

/** The format of `wedge.json`. Unknown keys are ignored. */
export const WedgeManifest = z.object({
  wedge: slugSchema,
  title: z.string().optional(),
  task_types: z
    .record(slugSchema, TaskType)
    .refine((types) => Object.keys(types).length > 0, 'must name at least one task type'),
  tools: z.array(z.enum(TOOL_GROUPS)).default([]),
  /** A name, or a name with the only tools of the connection that the wedge may use. */
  connections: z.array(DeclaredConnection).refine(isNamedOnce, 'must not name a connection twice').default([]),
  approvals: z.array(DeclaredApproval).default([]),
  skills: z.array(slugSchema).optional(),
  knowledge: z.array(z.string()).optional(),
  cases: z
    .object({ stages: z.array(z.string().min(1)).min(1), initial: z.string() })
    .refine((cases) => cases.stages.includes(cases.initial), 'initial must be one of the stages')
    .optional(),
  workflows: z
    .array(
      z.object({
        name: slugSchema,
        description: z.string().optional(),
        input_schema: jsonSchemaObject.optional(),
        output_schema: jsonSchemaObject.optional(),
      }),
    )
    .default([]),
  policy: z.object({ auto_approve: z.array(PolicyRule).default([]) }).prefault({}),
  intake: z.array(z.object({ id: slugSchema, question: z.string().min(1), why: z.string().optional() })).default([]),
})
export type WedgeManifest = z.infer<typeof WedgeManifest>
export type TaskType = z.infer<typeof TaskType>

/** A wedge as it was read from its folder. A running task keeps the wedge that it started with. */
export interface Wedge {
  slug: string
  title: string
  /** The real path of the folder. */
  dir: string
  manifest: WedgeManifest
  /** The manifest as the author wrote it. */
  source: JsonObject
  skills: NamedText[]
  /** Skills of which the agent knows the description, and reads the files when it needs them. */
  skillFolders: SkillFolder[]
  knowledge: NamedText[]
  /** The rehearsal scripts by task type. */
  rehearsals: Record<string, unknown>
  /** An example input by task type, from `rehearsals/<type>.input.json`. */
  examples: Record<string, Json>
  code: WedgeCode
  /** The folders of the agents in the wedge, by their path in the manifest. */
  agents: Record<string, WedgeAgentFolder>
}

/** The folder of a custom agent; the same digest means the same files, installed packages aside. */
export interface WedgeAgentFolder {
  /** The real path. */
  path: string
  digest: string
}

/** The source code of the workflows of a wedge; the same digest means the same code. */
export interface WedgeCode {
  digest: string
  /** Source texts by their path below `workflows/`. */
  files: Record<string, string>
}

/** What is wrong with a file of a wedge. The line is counted from 1, and is 1 if the whole file is meant. */
export interface FileProblem {
  file: string
  line: number
  message: string
}

/**
 * A problem in the folder of a wedge. A wedge with an unreadable manifest is unavailable; a broken rehearsal is only left
 * out.
 */
export interface WedgeProblem extends FileProblem {
  wedge: string
}

/** The problem in one sentence that names the file. */
export const problemText = ({ file, message }: FileProblem) =>
  message.startsWith(file) ? message : `${file}: ${message}`

/** The available wedges. They are read from the wedges folder and re-read when files change. */
export interface WedgeLibrary {
  get(slug: string): Wedge | undefined
  /** Reads the folder again before it returns undefined, so that a new wedge is found at once. */
  find(slug: string): Promise<Wedge | undefined>
  all(): Wedge[]
  problems(): WedgeProblem[]
}

type DeclaringManifest = Pick<WedgeManifest, 'connections'>

/** The names of the connections that a wedge declares, with or without a list of tools. */
export const connectionNames = ({ connections }: DeclaringManifest): string[] =>
  connections.map((declared) => (typeof declared === 'string' ? declared : declared.name))

/** The tools to which the wedge narrows its connections, by the name of the connection. */
export function narrowedTools({ connections }: DeclaringManifest): ReadonlyMap<string, readonly string[]> {
  return new Map(
    connections.flatMap((declared) => (typeof declared === 'string' ? [] : [[declared.name, declared.tools] as const])),
  )
}
