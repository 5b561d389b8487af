import { z } from 'zod'

export const emailField = z
  .string()
  .toLowerCase()
  .max(254)
  .regex(/^[^\s@]+@[^\s@]+$/, 'must be an email address')

export const newPasswordField = z.string().min(10).max(1024)

export const shortTextField = z.string().min(1).max(200)
