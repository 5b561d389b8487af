import type { Json } from '../../platform/base/json.ts'

/** The API of a provider that holds third-party accounts and runs tools with them. */
export interface Broker {
  listToolkits(query: ToolkitQuery): Promise<ToolkitPage>
  /** Creates an account that waits for its authorisation; it cannot be used before it is ACTIVE. */
  createAuthorisationLink(request: AuthorisationRequest): Promise<AuthorisationLink>
  getAccount(accountId: string): Promise<BrokerAccount>
  executeTool(execution: ToolExecution): Promise<BrokerToolResult>
}

export interface ToolkitQuery {
  search?: string | undefined
  limit: number
  cursor?: string | undefined
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

export interface AuthorisationRequest {
  toolkit: string
  userId: string
  callbackUrl?: string | undefined
}

export interface AuthorisationLink {
  accountId: string
  redirectUrl: string | null
  expiresAt: string | null
}

export interface BrokerAccount {
  status: string
  /** The user who owns the account; null where the provider does not say. */
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
  /** The provider responded without saying whether the tool succeeded. */
  unclear: boolean
}
