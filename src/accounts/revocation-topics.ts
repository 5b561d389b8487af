/** Published when an API key is revoked. */
export const keyRevokedTopic = (id: string): string => `key:${id}`

/** Published when a member is removed. */
export const memberRemovedTopic = (id: string): string => `member:${id}`

/** Published when a session ends. Contains the hash of its token, which is not a credential. */
export const sessionEndedTopic = (hash: string): string => `session:${hash}`
