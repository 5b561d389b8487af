import type { Ctx, Tx } from '../../platform/ctx/ctx.ts'
import type { FileRow } from '../../platform/store/tables.ts'
import { databaseStorage } from './database-storage.ts'
import { s3Storage } from './s3-storage.ts'

/** Where the bytes of files are. The rows of files are always in the database. */
export interface FileStorage {
  kind: FileRow['storage']
  /** The limit for one file. */
  maxBytes(ctx: Ctx): number
  /** All pieces but the last one of an upload have this size, so an upload needs about this much memory. */
  pieceBytes: number
  startUpload(ctx: Ctx, file: StoredObject): FileUpload
  /** Throws if bytes are missing, so a reader never takes a part of a file for the whole. */
  read(ctx: Ctx, file: StoredObject): AsyncIterable<Buffer>
  /** Removes the bytes and an unfinished upload. Does nothing if there are none. */
  remove(ctx: Ctx, file: StoredObject): Promise<void>
}

/** The bytes of a file or an artifact, as a storage knows them. */
export type StoredObject = Pick<FileRow, 'id' | 'size' | 'upload_id'>

export interface FileUpload {
  /** `reserve` counts the bytes of the piece. It is committed before the bytes are stored, or together with them. */
  write(piece: FilePiece, reserve: (tx: Tx) => Promise<void>): Promise<void>
}

export interface FilePiece {
  bytes: Buffer
  isLast: boolean
}

/** The storage for new files. */
export const currentStorage = ({ config }: Ctx): FileStorage => (config.s3 ? s3Storage : databaseStorage)

/** The storage that has the bytes of a file. */
export const storageOf = ({ storage }: Pick<FileRow, 'storage'>): FileStorage =>
  storage === 's3' ? s3Storage : databaseStorage

/** The bytes of a file, piece by piece. */
export const readFile = (ctx: Ctx, file: FileRow): AsyncIterable<Buffer> => storageOf(file).read(ctx, file)
