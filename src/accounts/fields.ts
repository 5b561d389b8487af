import { z } from 'zod'
import { isSlug } from '../base/names.ts'

/** Pieces that the account routes take in. */
export const email = z
  .string()
  .toLowerCase()
  .max(254)
  .regex(/^[^\s@]+@[^\s@]+$/, 'must be an email address')

export const newPassword = z.string().min(10).max(1024)

export const shortText = z.string().min(1).max(200)

export const slug = z
  .string()
  .refine(isSlug, 'must be a slug: a-z, 0-9, _ and -')
  .meta({ pattern: '^[a-z0-9][a-z0-9_-]{0,63}$' })
