import { hash } from 'node:crypto'

/** The prefix of a token says which plane accepts it. */
export const TOKEN_PREFIX = {
  founderKey: 'svc_key_',
  founderSession: 'svc_fst_',
  clientSession: 'svc_cst_',
  portalLink: 'svc_plt_',
  invite: 'svc_inv_',
  task: 'svc_tsk_',
  gate: 'svc_gat_',
  oauthState: 'svc_ost_',
  unsubscribe: 'svc_uns_',
  decisionLink: 'dl_',
  mailConfirmation: 'svc_mcf_',
  mcpCode: 'svc_mco_',
  mcpAccess: 'svc_mat_',
  mcpRefresh: 'svc_mrt_',
} as const
export type TokenKind = keyof typeof TOKEN_PREFIX

/** The prefix followed by 256 random bits. */
export function newToken(kind: TokenKind, random: (bytes: number) => Uint8Array): string {
  return TOKEN_PREFIX[kind] + Buffer.from(random(32)).toString('base64url')
}

/** Only this hash is stored. A token has 256 random bits, so the hash needs no salt. */
export function tokenHash(token: string): string {
  return hash('sha256', token)
}

/** A founder key that an operator may choose: the prefix and at least 20 letters, digits, `_` or `-`. */
export const isFounderKey = (text: string): boolean =>
  text.startsWith(TOKEN_PREFIX.founderKey) && /^[A-Za-z0-9_-]{20,}$/.test(text.slice(TOKEN_PREFIX.founderKey.length))

/** The part of a key that lists show. */
export const tokenHint = (token: string): string => `${token.slice(0, 12)}…${token.slice(-4)}`
