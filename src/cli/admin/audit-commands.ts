import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { access } from 'node:fs/promises'
import { type AuditExportVerdict, verifyAuditExport } from '../../contract/audit-export.ts'
import { errorMessage } from '../../base/error-message.ts'
import { createLineSplitter } from '../../base/lines.ts'
import { type CliCommand, commandArg } from '../shell/command.ts'
import { EXIT_CODE, commandFailed, usageError } from '../shell/failure.ts'
import type { Terminal } from '../shell/terminal.ts'

export const verifyAuditCommand: CliCommand = {
  name: 'audit verify',
  usage: 'FILE|-',
  summary: 'check an export of the audit chain, without the service',
  details: (
    svc,
  ) => `Get an export with \`${svc} audit export > audit.jsonl\`. Ends with 1 when an entry was changed, removed or added,
or when the last line is not the signed end of the export. The key that signed is in the file itself: compare its id with
that of an export you trust, or of the lines 'audit checkpoint' in the log of the service.`,
  argCount: [1, 1],
  async run(call) {
    const { terminal } = call.context
    const verdict = await verifyFile(commandArg(call, 0))
    if (terminal.isJson) terminal.printJson(verdict)
    else showVerdict(terminal, verdict)
    return verdict.ok ? EXIT_CODE.ok : EXIT_CODE.failed
  },
}

export const exportAuditCommand: CliCommand = {
  name: 'audit export',
  usage: '',
  summary: 'write the audit chain of the project to stdout, as JSON lines',
  argCount: [0, 0],
  async run({ context: { service } }) {
    const { body } = await service.open('/v1/audit/export')
    // A chain may be longer than the memory: no more is read than the reader takes.
    for await (const piece of body ?? []) if (!process.stdout.write(piece)) await once(process.stdout, 'drain')
    return EXIT_CODE.ok
  },
}

async function verifyFile(file: string): Promise<AuditExportVerdict> {
  if (file !== '-') await access(file).catch(() => Promise.reject(usageError(`cannot read the file '${file}'`)))
  const input = file === '-' ? process.stdin : createReadStream(file)
  try {
    return await verifyAuditExport(splitLines(input))
  } catch (error) {
    throw commandFailed(
      `${file}: ${errorMessage(error)}`,
      (svc) => `get an export with \`${svc} audit export > audit.jsonl\``,
    )
  }
}

/** Not with readline: newer Node versions also end a line at U+2028 and U+2029, which a JSON string may contain. */
async function* splitLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const lines: string[] = []
  const splitter = createLineSplitter(Number.POSITIVE_INFINITY, (line) => lines.push(line))
  for await (const chunk of chunks) {
    splitter.push(chunk)
    yield* lines.splice(0)
  }
  yield splitter.rest()
}

function showVerdict(terminal: Terminal, verdict: AuditExportVerdict): void {
  const { ok, entries, problem, signed_by, checkpoints, chain, exported_at } = verdict
  if (!ok) {
    terminal.print(terminal.styled('red', `✗ the chain of ${chain} is broken: ${problem}`))
    terminal.note(describeTrust(verdict))
    return
  }
  terminal.print(terminal.styled('green', `✓ the chain of ${chain} holds: ${entries} entries`))
  terminal.print(
    `signed to its end at ${exported_at}, with ${countCheckpoints(checkpoints.signed)} before, key ${signed_by}`,
  )
  terminal.note('the key is the one in the file: compare its id with that of an export that you trust')
  if (checkpoints.not_verifiable > 0)
    terminal.note(`signed by other keys: ${countCheckpoints(checkpoints.not_verifiable)}`)
}

/** What holds by its hashes alone is worth no more than the word of whoever wrote the file. */
function describeTrust({ first_bad_seq, anchored_to, signed_by }: AuditExportVerdict): string {
  const signed = anchored_to ? `signed up to entry ${anchored_to}, key ${signed_by}` : 'nothing before it is signed'
  return `the entries before ${first_bad_seq} hold by their hashes; ${signed}`
}

const countCheckpoints = (checkpoints: number) => `${checkpoints} checkpoint${checkpoints === 1 ? '' : 's'}`
