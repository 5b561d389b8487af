// The program of a reader thread, a bundle of its own.
import { parentPort, workerData } from 'node:worker_threads'
import { StoreUnavailable } from '../errors.ts'
import type { ReaderAnswer, ReaderFile, ReaderRequest } from './reader-connection.ts'
import { openSqliteConnection, runStatement } from './sqlite-connection.ts'

const { path, sync } = workerData as ReaderFile
const connection = openSqliteConnection(path, sync)
// Each commit of the writer empties the cache, so a large one would only take memory.
connection.exec('pragma cache_size = -4096; pragma query_only = on')

parentPort?.on('message', (request: ReaderRequest | null) => {
  if (request) return parentPort?.postMessage(answer(request), [])
  connection.close()
  parentPort?.close()
})

function answer({ sql, parameters }: ReaderRequest): ReaderAnswer {
  try {
    return { rows: runStatement(connection, sql, parameters) }
  } catch (error) {
    // A message keeps only the text of an error. The other thread classifies it again by these fields.
    const cause = error instanceof StoreUnavailable ? error.cause : error
    const { message, code, errcode, errstr } = cause as Error & Record<'code' | 'errcode' | 'errstr', unknown>
    return { error: { message, code, errcode, errstr } }
  }
}
