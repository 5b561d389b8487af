import type { WedgeManifest } from './wedge-manifest.ts'

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
