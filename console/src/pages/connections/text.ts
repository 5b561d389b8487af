import type { Connection, ConnectionKind } from '../../api/setup-queries.ts'

interface ConfigField {
  name: string
  label: string
  hint: string
}

const kinds: Record<ConnectionKind, string> = {
  email: 'Email',
  webhook: 'Webhook',
  custom: 'Custom',
  broker: 'Broker',
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

export const connectionsText = {
  title: 'Connections',
  lead: 'Services your agents can use. Agents never see credentials.',
  connectApp: 'Connect app',
  newConnection: 'New connection',
  none: 'No connections yet',
  noneHint: 'A wedge lists the connections it needs. Create each under the name used in wedge.json.',
  kinds,
  status,
  noUrl: 'No URL yet',
  clientOwned: (clientId: string) => `Client ${clientId.slice(-8)}`,
  notUsed: 'Not used yet',
  lastSuccess: 'Last success:',
  test: 'Test',
  testPassed: (name: string, checked: string) => `${name} works (${checked})`,
  testFailed: (name: string, error: string | null) => `${name} failed: ${error ?? 'unknown error'}`,
  authorise: 'Authorise',
  replaceSecret: 'Replace secret',
  setSecret: 'Set secret',
  edit: 'Edit',
  delete: 'Delete',
  confirmDelete: (name: string) => `Delete the connection ${name} and its secret?`,
  configFields,
  editConnection: (name: string) => `Edit ${name}`,
  save: 'Save',
  create: 'Create connection',
  saved: (name: string) => `${name} saved`,
  warning: (warning: string) => `Warning: ${warning}`,
  kind: 'Kind',
  name: 'Name',
  nameHint: 'Name used in wedge.json',
  otherConfig: 'Other settings (JSON)',
  otherConfigNotJson: 'Other settings must be valid JSON',
  otherConfigNotObject: 'Other settings must be a JSON object',
  secretFor: (name: string) => `Secret for ${name}`,
  saveSecret: 'Save secret',
  secretSaved: (name: string) => `Secret saved for ${name}`,
  secret: 'Secret',
  secretHint: 'Stored encrypted. Neither the API nor an agent can read it back.',
  noKey: 'The service has no encryption key. This secret is lost when the service restarts.',
  noKeyFix: 'To keep secrets, run this on the server, then restart the service:',
  initCommand: './svc init',
  searchApps: 'Search',
  noApps: 'No matching apps.',
  close: 'Close',
  connect: 'Connect',
  noAuthorisationPage: 'The broker returned no authorisation page',
  authoriseInNewTab: 'Authorise access in the new tab, then select Test',
}
