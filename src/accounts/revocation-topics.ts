/** Rung when a key is revoked. */
export const keyRevokedTopic = (id: string): string => `key:${id}`

/** Rung when a member is removed. */
export const memberRemovedTopic = (id: string): string => `member:${id}`

/** Rung when a member's session is over. Known by its hash, as the store knows it: that is no credential. */
export const sessionEndedTopic = (hash: string): string => `session:${hash}`
