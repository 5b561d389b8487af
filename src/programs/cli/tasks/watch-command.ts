import { errorMessage } from '../../../platform/base/error-message.ts'
import type { JsonObject } from '../../../platform/base/json.ts'
import { type CliCommand, type CommandContext, stringOption } from '../shell/command.ts'
import { readEventObjects, Reconnection } from '../shell/event-objects.ts'
import { CommandFailure, EXIT_CODE } from '../shell/failure.ts'
import { toShortText, toText } from '../shell/format.ts'
import { approvalPath, type ServiceClient } from '../shell/service-client.ts'
import { decidedBy } from './approval-card.ts'
import { askForDecision } from './decide-inline.ts'
import { reportLostConnection } from './run-command.ts'

export const watchApprovalsCommand: CliCommand = {
  name: 'approvals watch',
  usage: '[--wedge WEDGE]',
  summary: 'show approvals as they are requested and decided, and decide them',
  details: `On a terminal each request is shown in full, and you decide it with a (approve), e (edit), v (revise) or r (reject).
Otherwise each change is one line, or one JSON object with --json. Ctrl-C ends it; requests stay open.`,
  options: { wedge: { type: 'string' } },
  argCount: [0, 0],
  run: async (call) => new ApprovalWatch(call.context, stringOption(call, 'wedge')).run(),
}

/** More pending approvals than a person reads when the watch starts. */
const MAX_PENDING_SHOWN = 200

class ApprovalWatch {
  /** The pending approvals that were shown; aborted when one is decided. */
  readonly #shown = new Map<string, AbortController>()
  readonly #context: CommandContext
  readonly #wedge: string | undefined
  /** One request is asked about at a time. */
  #asking: Promise<unknown> = Promise.resolve()

  constructor(context: CommandContext, wedge: string | undefined) {
    this.#context = context
    this.#wedge = wedge
  }

  async run(): Promise<never> {
    const { service } = this.#context
    for await (const change of followProject(service, () => reportLostConnection(this.#context))) {
      try {
        if (change.kind === undefined) await this.#showAllPending()
        else if (change.kind === 'approval')
          await this.#show(await service.call('GET', approvalPath(toText(change.id))))
      } catch (error) {
        // The stream breaks as well, and after the reconnection all pending approvals are read.
        if (!(error instanceof CommandFailure) || error.exit !== EXIT_CODE.unreachable) throw error
      }
    }
    throw new Error('the stream of the project has no end')
  }

  /** What happened while there was no connection is not in the stream. */
  async #showAllPending(): Promise<void> {
    const { service } = this.#context
    const query = { status: 'pending', wedge: this.#wedge }
    const pending = (await service.list('/v1/approvals', query, MAX_PENDING_SHOWN)).toReversed()
    const ids = new Set(pending.map(({ approval_id }) => toText(approval_id)))
    const decidedMeanwhile = [...this.#shown.keys()].filter((id) => !ids.has(id))
    for (const id of decidedMeanwhile) await this.#show(await service.call('GET', approvalPath(id)))
    for (const approval of pending) await this.#show(approval)
  }

  async #show(approval: JsonObject): Promise<void> {
    const { terminal } = this.#context
    const id = toText(approval.approval_id)
    if (this.#wedge !== undefined && approval.wedge !== this.#wedge) return
    const isPending = approval.status === 'pending'
    if (isPending && this.#shown.has(id)) return
    this.#shown.get(id)?.abort()
    this.#shown.delete(id)
    if (terminal.isJson) terminal.printJson(approval)
    else if (!isPending || !terminal.isInteractive) terminal.print(changeLine(approval))
    if (!isPending) return
    const decided = new AbortController()
    this.#shown.set(id, decided)
    if (terminal.isInteractive && !terminal.isJson) this.#ask(id, decided.signal)
  }

  #ask(id: string, decided: AbortSignal): void {
    this.#asking = this.#asking
      .then(() => askForDecision(this.#context, id, decided))
      .catch((error) => this.#context.terminal.note(`${id} was not decided here: ${errorMessage(error)}`))
  }
}

function changeLine(approval: JsonObject): string {
  const { approval_id, action, risk, text, to } = approval
  const state = approval.revise === true ? 'sent back' : toText(approval.status)
  const what = to ? `question to the ${toText(to)}` : toShortText(text ?? action)
  return `${toText(approval_id)} ${state}${decidedBy(approval)}: ${what} (risk ${toShortText(risk)})`
}

/** Yields the changes of the project. An object without a kind means that the connection is ready. */
async function* followProject(service: ServiceClient, onLost: () => void): AsyncGenerator<JsonObject> {
  const connection = new Reconnection(onLost, (svc) => `continue with: ${svc} approvals watch`)
  for (;;) {
    try {
      for await (const change of readEventObjects(service, '/v1/stream')) {
        connection.succeeded()
        yield change
      }
    } catch (error) {
      connection.failed(error)
    }
    await connection.wait()
  }
}
