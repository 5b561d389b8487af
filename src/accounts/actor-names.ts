import type { Actor } from '../ctx/scope.ts'
import type { Db } from '../store/store.ts'
import { listApiKeyNames } from './credential-rows.ts'
import { listMemberNames } from './member-rows.ts'

/** The names of members and API keys by their ids. Pass only ids from rows of the caller's scope. */
export async function readActorNames(db: Db, actors: readonly Actor[]): Promise<Map<string, string>> {
  const idsOf = (kind: Actor['kind']) => [...new Set(actors.filter((actor) => actor.kind === kind).map(({ id }) => id))]
  const [members, keys] = await Promise.all([listMemberNames(db, idsOf('member')), listApiKeyNames(db, idsOf('key'))])
  return new Map([...members, ...keys].map(({ id, name }) => [id, name]))
}
