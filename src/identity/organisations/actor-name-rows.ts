import type { Db } from '../../platform/store/store.ts'

/** Who did something: a member, an API key, a client or the service. */
export interface NamedActor {
  kind: string
  id: string
  name: string | null
}

/** The name of the actor `system` with this id. */
const POLICY = 'policy'

/** Finds the names of members, API keys and clients. Removed ones have none. */
export async function nameActors(
  db: Db,
  actors: readonly { kind: string | null; id: string | null }[],
): Promise<(kind: string | null, id: string | null) => NamedActor | null> {
  const idsOf = (kind: string) => [...new Set(actors.flatMap((one) => (one.kind === kind && one.id ? [one.id] : [])))]
  const members = await listMemberNames(db, idsOf('member'))
  const keys = await listKeyNames(db, idsOf('key'))
  const clients = await listClientNames(db, idsOf('client'))
  const names = new Map<string, string | null>([
    [`system ${POLICY}`, POLICY],
    ...members.map((member) => [`member ${member.id}`, member.name ?? member.email] as const),
    ...keys.map((key) => [`key ${key.id}`, key.name] as const),
    ...clients.map((client) => [`client ${client.id}`, client.display_name] as const),
  ])
  return (kind, id) => (kind && id ? { kind, id, name: names.get(`${kind} ${id}`) ?? null } : null)
}

const listMemberNames = async (db: Db, ids: string[]) =>
  ids.length === 0 ? [] : db.selectFrom('members').select(['id', 'name', 'email']).where('id', 'in', ids).execute()

const listKeyNames = async (db: Db, ids: string[]) =>
  ids.length === 0 ? [] : db.selectFrom('keys').select(['id', 'name']).where('id', 'in', ids).execute()

const listClientNames = async (db: Db, ids: string[]) =>
  ids.length === 0 ? [] : db.selectFrom('clients').select(['id', 'display_name']).where('id', 'in', ids).execute()
