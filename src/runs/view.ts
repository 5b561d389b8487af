import { z } from 'zod'
import { jsonValue } from '../http/validate.ts'

/** `allowed` means that the gate has no rule for the tool. */
export const GateDecisionView = z.object({ decision: z.enum(['allowed', 'approved', 'auto_approved']) })

export const WorkflowResultView = z.object({ result: jsonValue })
