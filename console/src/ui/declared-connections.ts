import type { WedgeManifest } from '../api/types.ts'

/** The connections of a wedge as texts, with the tools to which the wedge narrows them. */
export function describeConnections({ connections = [] }: WedgeManifest): string[] {
  return connections.map((declared) =>
    typeof declared === 'string' ? declared : `${declared.name} (${declared.tools.join(', ') || 'no tools'})`,
  )
}

export const declaredNames = ({ connections = [] }: Pick<WedgeManifest, 'connections'>): string[] =>
  connections.map((declared) => (typeof declared === 'string' ? declared : declared.name))

/** Whether the wedge uses the connection: undefined if not, null if it may use all tools, else the tools. */
export function declaredTools({ connections = [] }: WedgeManifest, name: string): string[] | null | undefined {
  const declared = connections.find((one) => (typeof one === 'string' ? one : one.name) === name)
  if (declared === undefined) return undefined
  return typeof declared === 'string' ? null : declared.tools
}
