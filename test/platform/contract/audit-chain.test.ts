import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type ChainEntry,
  type ChainPage,
  type Checkpoint,
  checkpointText,
  entryHash,
  GENESIS_HASH,
  publicKeyId,
  sealEntry,
  toTrustedKeys,
  verifyChain,
} from '../../../src/platform/contract/audit/audit-chain.ts'
import { verifyAuditExport } from '../../../src/platform/contract/audit/audit-export.ts'
import { canonicalJson, type Json } from '../../../src/platform/base/json.ts'

const { publicKey, privateKey } = generateKeyPairSync('ed25519')
const der = publicKey.export({ format: 'der', type: 'spki' })

describe('audit chain verification', () => {
  test('the hash of an entry covers its canonical JSON without the hash', () => {
    const [entry] = chainOf(1)
    const { hash: _, ...rest } = entry as ChainEntry
    const anyText = fc.string({ unit: 'binary', maxLength: 20 })
    const anyData = fc.jsonValue({ maxDepth: 2 })
    fc.assert(
      fc.property(anyText, anyData, (subject, value) => {
        const text = canonicalJson({ ...rest, subject, data: value as Json })
        const hash = createHash('sha256').update(text).digest('hex')
        expect(entryHash({ ...rest, subject, data: canonicalJson(value as Json) })).toBe(hash)
      }),
    )
  })

  test('an unchanged chain is valid, and the verdict names its last signed entry', async () => {
    const entries = chainOf(7)
    const verdict = await verify(entries, { checkpoints: [checkpoint(entries, 2), checkpoint(entries, 5)] })
    expect(verdict).toEqual({
      ok: true,
      entries: 7,
      head: entries[6]?.hash,
      first_bad_seq: null,
      problem: null,
      anchored_to: 5,
      signed_by: publicKeyId(der),
      checkpoints: { signed: 2, not_verifiable: 0 },
    })
    expect(await verify([])).toMatchObject({ ok: true, entries: 0, head: null })
  })

  test('a changed field makes its entry the first bad one', async () => {
    const entries = chainOf(12)
    const field = fc.constantFrom('ts', 'action', 'subject', 'data', 'prev_hash', 'hash', 'kind', 'id')
    await fc.assert(
      fc.asyncProperty(fc.nat(11), field, fc.nat(), fc.integer({ min: 1, max: 127 }), async (at, name, place, by) => {
        const changed = entries.map((entry, n) => (n === at ? withChange(entry, name, place, by) : entry))
        expect(await verify(changed, { head: entries.at(-1) })).toMatchObject({ ok: false, first_bad_seq: at + 1 })
      }),
      { numRuns: 1000 },
    )
  })

  test('deleted, repeated and swapped entries are found at the first of them', async () => {
    const entries = chainOf(12)
    const head = entries.at(-1)
    await fc.assert(
      fc.asyncProperty(fc.nat(11), fc.nat(11), async (a, b) => {
        const [low, high] = [Math.min(a, b), Math.max(a, b)]
        const without = entries.filter((_, n) => n < low || n > high)
        expect(await verify(without, { head })).toMatchObject({ ok: false, first_bad_seq: low + 1 })
        const twice = [...entries.slice(0, high + 1), entries[low] as ChainEntry, ...entries.slice(high + 1)]
        expect((await verify(twice, { head })).ok).toBe(false)
        if (low === high) return
        const swapped = entries.with(low, entries[high] as ChainEntry).with(high, entries[low] as ChainEntry)
        expect(await verify(swapped, { head })).toMatchObject({ ok: false, first_bad_seq: low + 1 })
        const renumbered = swapped.map((entry, n) => ({ ...entry, seq: n + 1 }))
        expect(await verify(renumbered, { head })).toMatchObject({ ok: false, first_bad_seq: low + 1 })
      }),
      { numRuns: 300 },
    )
  })

  test('checkpoints reveal entries that were rewritten or removed together with the head', async () => {
    const entries = chainOf(12)
    const checkpoints = [checkpoint(entries, 4), checkpoint(entries, 9)]
    const rewritten = [...entries.slice(0, 6), ...chainOf(6, entries[5], 'forged')]
    expect(await verify(rewritten, { checkpoints })).toMatchObject({ ok: false, first_bad_seq: 9, anchored_to: 4 })
    expect(await verify(entries.slice(0, 7), { checkpoints })).toMatchObject({ ok: false, first_bad_seq: 8 })
    const resigned = checkpoints.with(1, { ...checkpoint(rewritten, 9), signature: checkpoints[1]?.signature ?? '' })
    expect(await verify(rewritten, { checkpoints: resigned })).toMatchObject({
      ok: false,
      first_bad_seq: 9,
      problem: 'the checkpoint of entry 9 is forged',
    })
  })

  test('a checkpoint of an unknown key is not verifiable, but no fault', async () => {
    const entries = chainOf(5)
    const lost = generateKeyPairSync('ed25519')
    const old = checkpoint(
      entries,
      3,
      lost.privateKey,
      publicKeyId(lost.publicKey.export({ format: 'der', type: 'spki' })),
    )
    expect(await verify(entries, { checkpoints: [old] })).toMatchObject({
      ok: true,
      anchored_to: null,
      checkpoints: { signed: 0, not_verifiable: 1 },
    })
  })

  test('a head that is missing, ahead, behind or has another hash is a fault', async () => {
    const entries = chainOf(4)
    const hash = entries[3]?.hash ?? ''
    expect(await verify(entries, { head: null })).toMatchObject({ ok: false, first_bad_seq: 5 })
    expect(await verify(entries, { head: { seq: 6, hash } })).toMatchObject({ ok: false, first_bad_seq: 5 })
    expect(await verify(entries, { head: { seq: 3, hash } })).toMatchObject({ ok: false, first_bad_seq: 4 })
    expect(await verify(entries, { head: { seq: 4, hash: GENESIS_HASH } })).toMatchObject({
      ok: false,
      first_bad_seq: 4,
    })
  })
})

describe('audit export verification', () => {
  const entries = chainOf(2500)
  const header = { kind: 'chain', chain: 'prj_1', head: headOf(entries), keys: [der.toString('base64')] }
  const checkpoints = [checkpoint(entries, 100), checkpoint(entries, 1000), checkpoint(entries, 2500)]
  const endLine = (end: Checkpoint) => JSON.stringify({ kind: 'end', ...end })
  const lines = [
    JSON.stringify(header),
    ...entries.flatMap((entry) => [
      JSON.stringify({ kind: 'entry', ...entry, data: JSON.parse(entry.data) as Json }),
      ...checkpoints
        .filter(({ seq }) => seq === entry.seq)
        .map((signed) => JSON.stringify({ kind: 'checkpoint', ...signed })),
    ]),
    endLine(endOf(entries)),
    '',
  ]

  test('an audit export is verified without the service, in any order of JSON keys', async () => {
    expect(await verifyAuditExport(each(lines))).toMatchObject({
      ok: true,
      entries: 2500,
      anchored_to: 2500,
      chain: 'prj_1',
      kids: [publicKeyId(der)],
      exported_at: '2026-01-01T00:00:00.000Z',
    })
  })

  test('a removed, changed or missing line of an export is found', async () => {
    expect(await verifyAuditExport(each(lines.toSpliced(50, 1)))).toMatchObject({ ok: false, first_bad_seq: 50 })
    const changed = lines.with(1200, (lines[1200] ?? '').replace('task_', 'tusk_'))
    expect(await verifyAuditExport(each(changed))).toMatchObject({ ok: false, first_bad_seq: 1198 })
    expect(await verifyAuditExport(each(lines.slice(0, 900)))).toMatchObject({ ok: false, first_bad_seq: 899 })
  })

  const isCheckpoint = (line: string) => line.includes('"kind":"checkpoint"')
  const isEnd = (line: string) => line.includes('"kind":"end"')
  const withHead = (head: unknown, rest: string[]) => [JSON.stringify({ ...header, head }), ...rest]
  const entryLine = (entry: ChainEntry) =>
    JSON.stringify({ kind: 'entry', ...entry, data: JSON.parse(entry.data) as Json })
  const UNSIGNED = 'the end is not signed, so entries may have been removed or rewritten'

  test('an export without a signed end is refused: truncated, rewritten or emptied, with a matching head', async () => {
    const cut = withHead(headOf(entries.slice(0, 5)), lines.slice(1, 6))
    expect(await verifyAuditExport(each(cut))).toMatchObject({ ok: false, first_bad_seq: 1, problem: UNSIGNED })
    const forged = [...entries.slice(0, 2), ...chainOf(4, entries[1], 'forged')]
    const rewritten = withHead(headOf(forged), forged.map(entryLine))
    expect(await verifyAuditExport(each(rewritten))).toMatchObject({ ok: false, first_bad_seq: 1, problem: UNSIGNED })
    expect(await verifyAuditExport(each(withHead(null, [])))).toMatchObject({ ok: false, problem: UNSIGNED })
    expect(await verifyAuditExport(each(withHead({ seq: 0, hash: GENESIS_HASH }, [])))).toMatchObject({ ok: false })
    const all = lines.filter((line) => !isCheckpoint(line) && !isEnd(line))
    expect(await verifyAuditExport(each(all))).toMatchObject({ ok: false, signed_by: null, problem: UNSIGNED })
    const withoutEnd = lines.filter((line) => !isEnd(line))
    expect(await verifyAuditExport(each(withoutEnd))).toMatchObject({ ok: false, anchored_to: 2500, problem: UNSIGNED })
  })

  test('an export that was truncated after a checkpoint is refused, with any end line that an attacker can have', async () => {
    const cut = withHead(headOf(entries.slice(0, 100)), lines.slice(1, 102))
    const refused = { ok: false, first_bad_seq: 101, anchored_to: 100, problem: UNSIGNED, exported_at: null }
    expect(await verifyAuditExport(each(cut))).toMatchObject(refused)
    const [signed, end] = [checkpoint(entries, 100), endOf(entries)]
    for (const last of [signed, end, { ...end, ...headOf(entries.slice(0, 100)) }])
      expect(await verifyAuditExport(each([...cut, endLine(last)]))).toMatchObject(refused)
    const later = lines.with(lines.length - 2, endLine({ ...end, at: '2027-01-01T00:00:00.000Z' }))
    expect(await verifyAuditExport(each(later))).toMatchObject({ ok: false, problem: UNSIGNED })
    await expect(verifyAuditExport(each([...lines, lines[1] ?? '']))).rejects.toThrow(
      'comes after the end of the export',
    )
  })

  test('an export is refused if only an earlier entry is signed, or its end is signed by an unlisted key', async () => {
    const early = withHead(headOf(entries.slice(0, 150)), lines.slice(1, 152))
    expect(await verifyAuditExport(each(early))).toMatchObject({ ok: false, first_bad_seq: 101, anchored_to: 100 })
    const other = generateKeyPairSync('ed25519')
    const kid = publicKeyId(other.publicKey.export({ format: 'der', type: 'spki' }))
    const unlisted = JSON.stringify({ kind: 'checkpoint', ...checkpoint(entries, 150, other.privateKey, kid) })
    const end = endLine(endOf(entries.slice(0, 150), other.privateKey, kid))
    const verdict = await verifyAuditExport(each([...early, unlisted, end]))
    expect(verdict).toMatchObject({ ok: false, first_bad_seq: 101, checkpoints: { not_verifiable: 1 } })
  })

  test('an export cannot be presented as one of another project', async () => {
    const renamed = [JSON.stringify({ ...header, chain: 'prj_2' }), ...lines.slice(1)]
    const problem = 'the checkpoint of entry 100 belongs to another chain, prj_1'
    expect(await verifyAuditExport(each(renamed))).toMatchObject({ ok: false, first_bad_seq: 100, problem })
  })

  test('an export of an empty chain is valid if its end is signed', async () => {
    const end = endLine(endOf([]))
    expect(await verifyAuditExport(each(withHead(null, [end])))).toMatchObject({ ok: true, entries: 0, anchored_to: 0 })
    expect(await verifyAuditExport(each([lines[0] ?? '', ...lines.slice(1, 6), end]))).toMatchObject({ ok: false })
  })

  test('the verdict of an export names the key that signed it', async () => {
    const other = generateKeyPairSync('ed25519').publicKey.export({ format: 'der', type: 'spki' })
    const keys = [other, der].map((key) => key.toString('base64'))
    const verdict = await verifyAuditExport(each([JSON.stringify({ ...header, keys }), ...lines.slice(1)]))
    expect(verdict).toMatchObject({
      ok: true,
      signed_by: publicKeyId(der),
      kids: [publicKeyId(other), publicKeyId(der)],
    })
  })

  test('a file that is not an audit export is refused', async () => {
    await expect(verifyAuditExport(each(['{"a":1}']))).rejects.toThrow('line 1 is not a line of an audit export')
    await expect(verifyAuditExport(each([lines[0] ?? '', 'oops']))).rejects.toThrow('line 2')
  })
})

function chainOf(length: number, after?: ChainEntry, action = 'task.created'): ChainEntry[] {
  const entries: ChainEntry[] = []
  for (let n = 1; n <= length; n++) {
    const before = entries.at(-1) ?? after
    const entry = {
      seq: (before?.seq ?? 0) + 1,
      ts: new Date(Date.UTC(2026, 0, 1) + n).toISOString(),
      actor: { kind: 'key', id: 'key_1' },
      action,
      subject: `task_${n} "quoted"`,
      data: canonicalJson({ wedge: 'echo', n, note: 'ä\n' }),
      prev_hash: before?.hash ?? GENESIS_HASH,
    }
    entries.push({ ...entry, hash: entryHash(entry) })
  }
  return entries
}

/** Replaces one character of a field by another one. */
function withChange(entry: ChainEntry, field: string, place: number, by: number): ChainEntry {
  const change = (text: string) => {
    const at = place % text.length
    return text.slice(0, at) + String.fromCharCode((text.charCodeAt(at) + by) % 128) + text.slice(at + 1)
  }
  if (field === 'kind' || field === 'id')
    return { ...entry, actor: { ...entry.actor, [field]: change(entry.actor[field]) } }
  return { ...entry, [field]: change(entry[field as 'data']) }
}

function checkpoint(
  entries: ChainEntry[],
  seq: number,
  key: KeyObject = privateKey,
  kid = publicKeyId(der),
): Checkpoint {
  const unsigned = { chain: 'prj_1', seq, hash: entries[seq - 1]?.hash ?? '', at: '2026-01-01T00:00:00.000Z' }
  return { ...unsigned, kid, signature: sign(null, checkpointText(unsigned), key).toString('base64') }
}

function endOf(entries: ChainEntry[], key: KeyObject = privateKey, kid = publicKeyId(der)): Checkpoint {
  const head = headOf(entries) ?? { seq: 0, hash: GENESIS_HASH }
  const unsigned = { chain: 'prj_1', ...head, at: '2026-01-01T00:00:00.000Z' }
  const text = `svc audit end of export\nprj_1\n${unsigned.seq}\n${unsigned.hash}\n${unsigned.at}\n`
  return { ...unsigned, kid, signature: sign(null, Buffer.from(text), key).toString('base64') }
}

function headOf(entries: readonly ChainEntry[]) {
  const last = entries.at(-1)
  return last ? { seq: last.seq, hash: last.hash } : null
}

interface VerifyOptions {
  head?: { seq: number; hash: string } | null | undefined
  checkpoints?: Checkpoint[]
}

function verify(entries: ChainEntry[], options: VerifyOptions = {}) {
  const head = options.head === undefined ? headOf(entries) : options.head
  const pages: ChainPage[] = [{ entries: entries.map(sealEntry), checkpoints: options.checkpoints ?? [] }]
  return verifyChain(each(pages), { chain: 'prj_1', head, trusted: toTrustedKeys([der]) })
}

async function* each<T>(items: Iterable<T>): AsyncGenerator<T> {
  yield* items
}
