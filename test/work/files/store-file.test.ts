import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { readStorageUsage } from '../../../src/identity/limits/storage-usage.ts'
import { SYSTEM_ACTOR } from '../../../src/platform/ctx/scope.ts'
import { deleteFile } from '../../../src/work/files/delete-file.ts'
import { readFile } from '../../../src/work/files/storage.ts'
import {
  findFile,
  insertMessageFiles,
  insertTaskFiles,
  listMessageFiles,
  listTaskFiles,
} from '../../../src/work/files/rows.ts'
import { storeFile, toPieces } from '../../../src/work/files/store-file.ts'
import { requireUsableFiles } from '../../../src/work/files/usable-files.ts'
import { inTx } from '../../../src/platform/ctx/ctx.ts'
import { anyStore, sharedApp } from '../../app.ts'
import { collect, inSlices } from './file-bytes.ts'

anyStore((store) => {
  const app = sharedApp({ store })
  const owner = async (clientId: string | null = null) => {
    const { body } = await app().call('GET', '/v1/projects')
    return { projectId: body.data[0].id as string, clientId, actor: SYSTEM_ACTOR }
  }
  const storedBytes = async () => readStorageUsage(app().ctx, (await owner()).projectId)

  test('a stored file has its bytes, size and hash, and can be read and deleted', async () => {
    const { ctx } = app()
    const bytes = Buffer.alloc(2_500_000, 'abcdefg')
    const file = await storeFile(ctx, await owner(), { name: 'C:\\x\\notes.txt' }, inSlices(bytes, 70_000))
    expect(file).toMatchObject({
      name: 'notes.txt',
      content_type: 'text/plain',
      size: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      state: 'stored',
    })
    expect(Buffer.compare(await collect(readFile(ctx, file)), bytes)).toBe(0)
    expect(await findFile(ctx.db, [file.project_id], file.id)).toEqual(file)
    expect(await findFile(ctx.db, ['prj_other'], file.id)).toBeUndefined()
    await deleteFile(ctx, SYSTEM_ACTOR, file)
    expect(await findFile(ctx.db, [file.project_id], file.id)).toBeUndefined()
    await expect(collect(readFile(ctx, file))).rejects.toThrow('deleted while it was read')
  })

  test('an upload that ends with an error leaves nothing and gives its storage back', async () => {
    const { ctx } = app()
    const before = await storedBytes()
    const broken = async function* () {
      yield Buffer.alloc(1_500_000)
      throw new Error('the sender went away')
    }
    await expect(storeFile(ctx, await owner(), { name: 'a' }, broken())).rejects.toThrow('the sender went away')
    const tooLarge = inSlices(Buffer.alloc(10 * 1024 * 1024 + 1), 1_000_000)
    await expect(storeFile(ctx, await owner(), { name: 'a' }, tooLarge)).rejects.toMatchObject({
      status: 413,
      message: 'the file is larger than 10 MiB',
    })
    expect(await storedBytes()).toEqual(before)
    expect(await ctx.db.selectFrom('files').select('id').execute()).toEqual([])
    expect(await ctx.db.selectFrom('file_chunks').select('n').execute()).toEqual([])
  })

  test("files of tasks and messages keep their order, and a client's file is not usable for another client", async () => {
    const { ctx } = app()
    const { projectId } = await owner()
    const mine = await storeFile(ctx, await owner('cli_1'), { name: 'mine' }, inSlices(Buffer.from('1'), 1))
    const team = await storeFile(ctx, await owner(), { name: 'team' }, inSlices(Buffer.from('2'), 1))
    const use = (clientId: string | null, ids: string[]) => requireUsableFiles(ctx.db, { projectId, clientId }, ids)
    expect(await use('cli_1', [team.id, mine.id])).toEqual([team, mine])
    expect(await use(null, [mine.id])).toEqual([mine])
    await expect(use('cli_2', [mine.id])).rejects.toMatchObject({ status: 400, message: `no such file: ${mine.id}` })
    await expect(use(null, ['file_x'])).rejects.toMatchObject({ status: 400 })
    await inTx(ctx, async (tx) => {
      await insertTaskFiles(tx.db, 'task_1', [team.id, mine.id])
      await insertMessageFiles(tx.db, 'msg_1', [mine.id, team.id])
      await insertTaskFiles(tx.db, 'task_2', [])
    })
    expect(await listTaskFiles(ctx.db, 'task_1')).toEqual([team, mine])
    expect(await listMessageFiles(ctx.db, ['msg_1', 'msg_2'])).toEqual([
      { ...mine, message_id: 'msg_1' },
      { ...team, message_id: 'msg_1' },
    ])
    await deleteFile(ctx, SYSTEM_ACTOR, team)
    expect(await listTaskFiles(ctx.db, 'task_1')).toEqual([mine])
  })
})

test('bytes are cut into pieces of one size, and the last piece is marked', async () => {
  for (const [length, slice] of [
    [0, 1],
    [1, 1],
    [10, 3],
    [20, 20],
    [25, 7],
    [30, 100],
  ] as const) {
    const bytes = Buffer.from(Array.from({ length }, (_, i) => i))
    const pieces = []
    for await (const piece of toPieces(inSlices(bytes, slice), 10)) pieces.push(piece)
    expect(Buffer.concat(pieces.map((piece) => piece.bytes))).toEqual(bytes)
    expect(pieces.map(({ isLast }) => isLast)).toEqual([
      ...Array.from({ length: Math.max(0, Math.ceil(length / 10) - 1) }, () => false),
      true,
    ])
    for (const piece of pieces.slice(0, -1)) expect(piece.bytes).toHaveLength(10)
  }
})
