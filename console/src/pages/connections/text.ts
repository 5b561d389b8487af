import type { Connection, ConnectionKind } from '../../api/setup-queries.ts'
import { plural } from '../../ui/plural.ts'

interface ConfigField {
  name: string
  label: string
  hint: string
}

const kinds: Record<ConnectionKind, string> = {
  email: 'Email',
  webhook: 'Webhook',
  custom: 'HTTP API',
  broker: 'App',
  mcp: 'MCP server',
}

const status: Record<Connection['status'], string> = {
  connected: 'Connected',
  needs_secret: 'Needs secret',
  needs_authorisation: 'Needs authorisation',
}

/** The config fields that have an input of their own; all others are edited as JSON. */
const configFields: Record<ConnectionKind, ConfigField[]> = {
  email: [
    { name: 'api_url', label: 'Mail API URL', hint: 'Messages are sent to it as POST requests.' },
    { name: 'from', label: 'Sender', hint: 'Example: Accounts <accounts@example.com>' },
  ],
  webhook: [{ name: 'url', label: 'URL', hint: 'Actions are sent to it as POST requests, signed if a secret is set.' }],
  custom: [
    { name: 'api_url', label: 'Action URL', hint: 'Actions are sent to it as POST requests.' },
    { name: 'base_url', label: 'Read base URL', hint: 'GET requests are limited to this prefix.' },
  ],
  broker: [{ name: 'toolkit', label: 'Toolkit', hint: "The broker's name for the app." }],
  mcp: [{ name: 'url', label: 'URL', hint: 'The address of the MCP server (streamable HTTP).' }],
}

const tools = {
  title: 'Tools',
  tool: 'Tool',
  class: 'Use',
  state: 'State',
  actions: 'Actions',
  classes: { read: 'Read', ask: 'Ask', off: 'Off' },
  states: { confirmed: 'Confirmed', new: 'New', changed: 'Changed' },
  classOf: (name: string) => `Use of ${name}`,
  inputOf: (name: string) => `Input of ${name}`,
  confirm: 'Confirm',
  refresh: 'Refresh tools',
  refreshed: 'The tools are up to date',
  refreshedWithSkipped: (skipped: number) =>
    `The tools are up to date. ${plural(skipped, 'tool was', 'tools were')} ignored: name, size or number not acceptable.`,
  hint: 'Ask: a person approves every call. Read: no approval. Off: agents cannot call it.',
  toConfirm: (count: number) =>
    `${plural(count, 'tool is', 'tools are')} off until an admin confirms how agents may use ${count === 1 ? 'it' : 'them'}.`,
  none: 'This connection has no named tools. Agents send actions to its URL.',
  noneListed: 'No tools listed yet. Test the connection to list them.',
}

const health = {
  title: 'Health',
  status: { ok: 'Works', failing: 'Failing', not_connected: 'Not connected' },
  roleHint: 'Ask an admin to connect it again.',
}

const oauthErrors: Record<string, string | undefined> = {
  access_denied: 'The provider reports that access was denied.',
  invalid_scope: 'The provider does not know one of the scopes.',
  server_error: 'The provider reported an error of its own.',
  temporarily_unavailable: 'The provider is busy.',
  expired: 'The link had expired.',
  exchange_failed: 'The provider did not issue a token. Check the client ID and the client secret.',
}

export const connectionsText = {
  choose: 'Choose…',
  noneToChoose: 'No connections yet.',
  createOne: 'Create a connection',
  title: 'Connections',
  lead: 'Services your agents can use. Agents never see credentials.',
  newConnection: 'New connection',
  none: 'No connections yet',
  noneHint: 'A wedge lists the connections it needs. Create each under the name used in wedge.json.',
  kinds,
  status,
  noUrl: 'No URL yet',
  failing: 'Failing',
  notTested: 'Not tested',
  connection: 'Connection',
  tools,
  health,
  facts: { lastUse: 'Last success', lastError: 'Last error', never: 'Never', owner: 'Owner', team: 'Your team' },
  settings: 'Settings',
  usedBy: 'Wedges that use it',
  usedByNone: (name: string) => `No wedge uses the name ${name} yet. Add it to "connections" in a wedge.json.`,
  usedTools: (tools: string[] | null) => (tools === null ? '' : `only ${tools.join(', ')}`),
  oauth: {
    connected: 'The account is connected. Test the connection to see that it works.',
    failed: 'The account was not connected.',
    again: 'Authorise it again.',
    errors: oauthErrors,
  },
  clientOwned: (clientId: string) => `Client ${clientId.slice(-8)}`,
  missing: (names: string[]) => `Missing: ${names.join(', ')}`,
  withoutSecret: (names: string[]) => `Not connected: ${names.join(', ')}`,
  connectNamed: (name: string) => `Connect ${name}`,
  createNamed: (name: string) => `Create connection ${name}`,
  notUsed: 'Not used yet',
  lastSuccess: 'Last success:',
  test: 'Test',
  testPassed: (name: string, checked: string) => `${name} works (${checked})`,
  testFailed: (name: string, error: string | null) => `${name} failed: ${error ?? 'unknown error'}`,
  authorise: 'Authorise',
  reconnect: 'Reconnect',
  replaceSecret: 'Replace secret',
  setSecret: 'Set secret',
  checkAddress: 'Check the address',
  edit: 'Edit',
  delete: 'Delete',
  confirmDelete: (name: string) => `Delete the connection ${name} and its secret?`,
  configFields,
  editConnection: (name: string) => `Edit ${name}`,
  save: 'Save',
  saved: (name: string) => `${name} saved`,
  warning: (warning: string) => `Warning: ${warning}`,
  name: 'Name',
  nameHint: 'Name used in wedge.json',
  otherConfig: 'Other settings (JSON)',
  otherConfigNotJson: 'Other settings must be valid JSON',
  otherConfigNotObject: 'Other settings must be a JSON object',
  noKey: 'The service has no encryption key. This secret is lost when the service restarts.',
  noKeyFix: 'To keep secrets, run this on the server, then restart the service:',
  initCommand: './svc init',
  noAuthorisationPage: 'The provider returned no authorisation page',
  authoriseInNewTab: 'Authorise access in the new tab, then select Test',
}
