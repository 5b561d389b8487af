import { z } from 'zod'
import type { JsonObject } from '../../platform/base/json.ts'
import type { TraceHeaders } from '../../platform/base/trace-context.ts'
import type { McpToolName } from '../../platform/contract/tool-names.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import type { Role, Scope } from '../../platform/ctx/scope.ts'
import { validateFields } from '../../platform/http/validate.ts'
import type { FormNeeded, FormState } from './decision-form.ts'

/** The caller of a tool. */
export interface ToolCaller {
  ctx: Ctx
  scope: Scope
  /** Fires when the connection closes or the credential is revoked. */
  disconnected: AbortSignal
  /** When the call began, in ms. Waits count from here, also after the call has shown a form. */
  startedAt: number
  /** What this call has shown to the person so far; null: the client cannot show forms. */
  forms: FormState | null
  /** The trace of the request. */
  trace: TraceHeaders | null
}

export interface McpTool {
  name: McpToolName
  role: Role
  /** The entry in `tools/list`. Created at its first use: the schemas of all tools would be a fifth of the start. */
  readonly definition: {
    name: string
    description: string
    inputSchema: object
    outputSchema: object
    annotations: object
  }
  /** The result, or the form that a person has to answer before the call can go on. */
  call(caller: ToolCaller, input: JsonObject): Promise<object | FormNeeded>
}

interface ToolSpec<Input extends z.ZodObject> {
  description: string
  input: Input
  output: z.ZodObject
  call(caller: ToolCaller, input: z.output<Input>): Promise<object | FormNeeded>
}

/** One schema both describes and validates the arguments of a tool. */
export function defineTool<Input extends z.ZodObject>(name: McpToolName, role: Role, spec: ToolSpec<Input>): McpTool {
  let definition: McpTool['definition'] | undefined
  return {
    name,
    role,
    get definition() {
      return (definition ??= {
        name,
        description: spec.description,
        inputSchema: toSchema(spec.input, 'input'),
        outputSchema: toSchema(spec.output, 'output'),
        annotations: { readOnlyHint: role === 'viewer' },
      })
    },
    call: async (caller, input) => spec.call(caller, validateFields(spec.input, input, 'argument')),
  }
}

function toSchema(schema: z.ZodObject, io: 'input' | 'output'): object {
  const { $schema: _dialect, ...converted } = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
  return converted
}
