import { objectListField } from '../../../platform/base/json-fields.ts'
import { isJsonObject, type Json, type JsonObject } from '../../../platform/base/json.ts'
import { type CliCommand, type CommandCall, commandArg, stringOption } from '../shell/command.ts'
import { EXIT_CODE, usageError } from '../shell/failure.ts'
import { formatTime, showTable, toShortText } from '../shell/format.ts'
import { readJsonOption } from '../shell/json-option.ts'
import type { Terminal } from '../shell/terminal.ts'

export const wedgePolicyCommand: CliCommand = {
  name: 'wedge policy',
  usage: 'WEDGE [--save RULES [--based-on VERSION] | --reset]',
  summary: 'show the auto-approve rules that apply in the project, or save others',
  details: `RULES is a file, - for stdin, or JSON: a list of rules, or an object with the list as auto_approve.
  --save RULES           save the rules as a new version; they replace those of the wedge's folder in this project
  --based-on VERSION     refuse to save if there is a newer version by now; none if no version was saved yet
  --reset                go back to the rules of the wedge's folder`,
  options: { save: { type: 'string' }, 'based-on': { type: 'string' }, reset: { type: 'boolean' } },
  argCount: [1, 1],
  async run(call) {
    const { terminal, service } = call.context
    const wedge = commandArg(call, 0)
    const path = `/v1/wedges/${encodeURIComponent(wedge)}/policy`
    const rules = stringOption(call, 'save')
    if (rules !== undefined && call.options['reset'] === true) throw usageError('use either --save or --reset')
    if (rules !== undefined) {
      await service.call('PUT', path, { auto_approve: await readRules(rules), ...basedOn(call) })
    } else if (call.options['reset'] === true) await service.call('DELETE', path)
    const policy = await service.call('GET', path)
    if (terminal.isJson) terminal.printJson(policy)
    else showPolicy(terminal, wedge, policy)
    return EXIT_CODE.ok
  },
}

async function readRules(option: string): Promise<Json> {
  const json = await readJsonOption('--save', option)
  const rules = isJsonObject(json) ? (json['auto_approve'] ?? null) : json
  if (!Array.isArray(rules)) throw usageError('option --save must be a list of rules, or an object with auto_approve')
  return rules
}

function basedOn(call: CommandCall): { based_on?: number | null } {
  const version = stringOption(call, 'based-on')
  if (version === undefined) return {}
  if (version === 'none') return { based_on: null }
  if (!/^\d{1,9}$/.test(version)) throw usageError('option --based-on must be the number of a version, or none')
  return { based_on: Number(version) }
}

function showPolicy(terminal: Terminal, wedge: string, policy: JsonObject): void {
  const { source, version, created_at, created_by } = policy
  const name = isJsonObject(created_by) ? (created_by['name'] ?? created_by['id']) : null
  const saved = `version ${toShortText(version)}, saved by ${toShortText(name)} at ${formatTime(created_at)} (UTC)`
  terminal.print(`${wedge}: ${source === 'saved' ? saved : "the rules of the wedge's folder"}`)
  const rows = objectListField(policy, 'auto_approve').map((rule, index) => [
    String(index + 1),
    ...[rule['action'], rule['max_amount_usd'], rule['max_per_task'], rule['max_per_day']].map((cell) =>
      cell === undefined ? '-' : toShortText(cell, 60),
    ),
  ])
  showTable(
    terminal,
    ['RULE', 'ACTION', 'MAX USD', 'PER TASK', 'PER DAY'],
    rows,
    'no rules: every action needs an approval',
  )
}

export const wedgeSuggestionsCommand: CliCommand = {
  name: 'wedge suggestions',
  usage: 'WEDGE',
  summary: 'suggest auto-approve rules from what people approved unchanged',
  details: `No suggested rule covers a request that a person rejected, sent back or edited.
With --json, save the first suggestion with: jq '.suggestions[0]' | svc wedge policy WEDGE --save -`,
  argCount: [1, 1],
  async run(call) {
    const { terminal, service } = call.context
    const found = await service.call('GET', `/v1/wedges/${encodeURIComponent(commandArg(call, 0))}/suggestions`)
    if (terminal.isJson) terminal.printJson(found)
    else showSuggestions(terminal, found)
    return EXIT_CODE.ok
  },
}

function showSuggestions(terminal: Terminal, found: JsonObject): void {
  const suggestions = objectListField(found, 'suggestions')
  for (const suggestion of suggestions) for (const line of suggestionLines(suggestion)) terminal.print(line)
  if (suggestions.length === 0) terminal.note(`no suggestions from ${toShortText(found['checked'])} approvals`)
  for (const { action, reason } of objectListField(found, 'refused'))
    terminal.note(`no rule for ${toShortText(action)}: ${toShortText(reason, 200)}`)
  if (found['is_capped'] === true)
    terminal.note(`${toShortText(found['checked'])} requests were read; older approved and expired ones were not`)
}

function suggestionLines({ text, would_pass: pass, not_covered: missed }: JsonObject): string[] {
  const passed = isJsonObject(pass) ? pass : {}
  const sum = isJsonObject(passed['sum']) ? `, ${toShortText(passed['sum']['amount'])} USD in total` : ''
  const undecided =
    passed['undecided'] === 0 ? '' : `; it would also approve ${toShortText(passed['undecided'])} that expired`
  return [
    toShortText(text, 200),
    `  approved unchanged: ${toShortText(passed['count'])}${sum}, since ${formatTime(passed['first_at'])} (UTC)${undecided}`,
    `  rejected, sent back or edited: ${toShortText(isJsonObject(missed) ? missed['count'] : 0)}, none of them covered`,
  ]
}
