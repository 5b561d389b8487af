import { z } from 'zod'

/** Pieces that the account routes take in. */
export const email = z
  .string()
  .toLowerCase()
  .max(254)
  .regex(/^[^\s@]+@[^\s@]+$/, 'must be an email address')

export const newPassword = z.string().min(10).max(1024)

export const shortText = z.string().min(1).max(200)
