/** What a column is beyond text or a number: the views for SQL tools show it by this type. */

/** A boolean. */
export type Flag = 0 | 1
export type JsonText = string
export type IsoTime = string
/** A UTC day, such as `2026-11-16`. */
export type Day = string
/** Never in a view: a credential, or a value by which one can be checked or found. */
export type SecretText = string
