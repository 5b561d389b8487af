import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { access } from 'node:fs/promises'
import { type ExportVerdict, verifyExport } from '../base/audit-export.ts'
import { messageOf } from '../base/message-of.ts'
import { type Command, word } from './command.ts'
import { EXIT, failed, misused } from './failure.ts'
import type { Terminal } from './terminal.ts'

export const verifyAudit: Command = {
  name: 'audit verify',
  usage: 'FILE|-',
  summary: 'check an export of the audit chain, without the service',
  details: (
    svc,
  ) => `Get an export with \`${svc} audit export > audit.jsonl\`. Ends with 1 when an entry was changed, removed or added,
or when the last line is not the signed end of the export. The key that signed is in the file itself: compare its id with
that of an export you trust, or of the lines 'audit checkpoint' in the log of the service.`,
  words: [1, 1],
  async run(call) {
    const { terminal } = call.shell
    const verdict = await verdictOn(word(call, 0))
    if (terminal.json) terminal.tell(verdict)
    else show(terminal, verdict)
    return verdict.ok ? EXIT.ok : EXIT.failed
  },
}

export const exportAudit: Command = {
  name: 'audit export',
  usage: '',
  summary: 'write the audit chain of the project to stdout, as JSON lines',
  words: [0, 0],
  async run({ shell: { service } }) {
    const { body } = await service.open('/v1/audit/export')
    // A chain may be longer than the memory: no more is read than the reader takes.
    for await (const piece of body ?? []) if (!process.stdout.write(piece)) await once(process.stdout, 'drain')
    return EXIT.ok
  },
}

async function verdictOn(file: string): Promise<ExportVerdict> {
  if (file !== '-') await access(file).catch(() => Promise.reject(misused(`cannot read the file '${file}'`)))
  const input = file === '-' ? process.stdin : createReadStream(file)
  try {
    return await verifyExport(linesOf(input.setEncoding('utf8')))
  } catch (error) {
    throw failed(`${file}: ${messageOf(error)}`, (svc) => `get an export with \`${svc} audit export > audit.jsonl\``)
  }
}

/** Not as readline does: in newer Node it also ends a line at U+2028 and U+2029, which may stand in a JSON string. */
async function* linesOf(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = ''
  for await (const piece of pieces) {
    const lines = (rest + piece).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  yield rest
}

function show(terminal: Terminal, verdict: ExportVerdict): void {
  const { ok, entries, problem, signed_by, checkpoints, chain, exported_at } = verdict
  if (!ok) {
    terminal.say(terminal.paint('red', `✗ the chain of ${chain} is broken: ${problem}`))
    terminal.note(vouched(verdict))
    return
  }
  terminal.say(terminal.paint('green', `✓ the chain of ${chain} holds: ${entries} entries`))
  terminal.say(`signed to its end at ${exported_at}, with ${count(checkpoints.signed)} before, key ${signed_by}`)
  terminal.note('the key is the one in the file: compare its id with that of an export that you trust')
  if (checkpoints.not_verifiable > 0) terminal.note(`signed by other keys: ${count(checkpoints.not_verifiable)}`)
}

/** What holds by its hashes alone is worth no more than the word of whoever wrote the file. */
function vouched({ first_bad_seq, anchored_to, signed_by }: ExportVerdict): string {
  const signed = anchored_to ? `signed up to entry ${anchored_to}, key ${signed_by}` : 'nothing before it is signed'
  return `the entries before ${first_bad_seq} hold by their hashes; ${signed}`
}

const count = (checkpoints: number) => `${checkpoints} checkpoint${checkpoints === 1 ? '' : 's'}`
