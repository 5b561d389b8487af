import type { Ctx } from '../../platform/ctx/ctx.ts'
import type { FileRow } from '../../platform/store/tables.ts'
import { storageOf } from './storage.ts'

/** The bytes of a file, piece by piece. */
export const readFile = (ctx: Ctx, file: FileRow): AsyncIterable<Buffer> => storageOf(file).read(ctx, file)
