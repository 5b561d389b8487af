import type { WedgeManifest } from '../api/types.ts'

/** The connections of a wedge as texts, with the tools to which the wedge narrows them. */
export function describeConnections({ connections = [] }: WedgeManifest): string[] {
  return connections.map((declared) =>
    typeof declared === 'string' ? declared : `${declared.name} (${declared.tools.join(', ') || 'no tools'})`,
  )
}
