import type { Schemas } from '../../api/types.ts'
import { approvalsText } from './text.ts'

const { actor } = approvalsText

/** The name of a member, a client or an API key. */
export function actorName({ kind, id, name }: Schemas.NamedActor): string {
  if (kind === 'key') return actor.key(name ?? id)
  if (kind === 'system') return actor.service
  return name ?? actor.unknown(kind, id)
}
