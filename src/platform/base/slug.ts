/** A name that can be part of a path, a host name or a key without escaping. */
export const SLUG = /^[a-z0-9][a-z0-9_-]{0,63}$/

export const isSlug = (name: string): boolean => SLUG.test(name)
