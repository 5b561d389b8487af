import { badRequest } from './problem.ts'

/** The fields of a form in their order; a 400 above the maximum, because each field takes time. */
export function parseFormFields(body: Buffer, maxFields: number): [name: string, value: string][] {
  let fields = 1
  for (let at = body.indexOf('&'); at !== -1; at = body.indexOf('&', at + 1))
    if (++fields > maxFields) throw tooManyFields(maxFields)
  return [...new URLSearchParams(body.toString('utf8'))]
}

export const tooManyFields = (maxFields: number) => badRequest(`body must not have more than ${maxFields} fields`)
