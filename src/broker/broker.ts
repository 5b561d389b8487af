import type { Json } from '../base/json.ts'

/** What the service needs of a provider that holds other people's accounts. */
export interface Broker {
  toolkits(ask: { search?: string | undefined; limit: number; cursor?: string | undefined }): Promise<ToolkitPage>
  /** Begins an authorisation; the account exists from now on and is of no use before it is ACTIVE. */
  link(ask: { toolkit: string; userId: string; callbackUrl?: string | undefined }): Promise<AuthorisationLink>
  account(accountId: string): Promise<BrokerAccount>
  execute(ask: ToolExecution): Promise<BrokerToolResult>
}

export interface Toolkit {
  slug: string
  name: string
  description: string | null
}

export interface ToolkitPage {
  data: Toolkit[]
  next_cursor: string | null
}

export interface AuthorisationLink {
  accountId: string
  redirectUrl: string | null
  expiresAt: string | null
}

export interface BrokerAccount {
  status: string
  /** Whose account it is, where the provider tells. */
  userId: string | null
}

export interface ToolExecution {
  slug: string
  userId: string
  accountId: string
  arguments: Json
  idempotencyKey: string | null
}

export interface BrokerToolResult {
  ok: boolean
  status: number
  data: Json
  error: string | null
  /** The provider answered and does not say how the tool ended. */
  unclear: boolean
}
