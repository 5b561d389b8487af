import { hash } from 'node:crypto'

/** The fixed prefixes say which plane a token belongs to. */
export const TOKEN_PREFIX = {
  founderKey: 'svc_key_',
  founderSession: 'svc_fst_',
  clientSession: 'svc_cst_',
  portalLink: 'svc_plt_',
  invite: 'svc_inv_',
  task: 'svc_tsk_',
  gate: 'svc_gat_',
} as const
export type TokenKind = keyof typeof TOKEN_PREFIX

/** 256 random bits behind the prefix. */
export function newToken(kind: TokenKind, random: (bytes: number) => Uint8Array): string {
  return TOKEN_PREFIX[kind] + Buffer.from(random(32)).toString('base64url')
}

/** Only this is stored. The token has 256 bits of its own, so no salt is needed. */
export function tokenHash(token: string): string {
  return hash('sha256', token)
}

/** What a list shows of a key. */
export const tokenHint = (token: string): string => `${token.slice(0, 12)}…${token.slice(-4)}`
