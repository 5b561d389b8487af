import { onTestFinished } from 'vitest'
import {
  createPostgres,
  createStandby,
  type PostgresServer,
  removePostgres,
  REPLICATION_SETTINGS,
} from '../postgres.ts'

/** A primary server and its standby, which has every acknowledged commit. `url` names both, the standby first. */
export interface ReplicatedPostgres {
  primary: PostgresServer
  standby: PostgresServer
  url: string
}

export async function createReplicatedPostgres(): Promise<ReplicatedPostgres> {
  const primary = await createPostgres(REPLICATION_SETTINGS)
  onTestFinished(() => removePostgres(primary))
  const standby = await createStandby(primary)
  onTestFinished(() => removePostgres(standby))
  const hosts = [standby, primary].map(({ folder }) => encodeURIComponent(folder)).join(',')
  const url = `postgres://postgres@localhost/postgres?host=${hosts}&target_session_attrs=read-write`
  return { primary, standby, url }
}
