/** Puts the number, in the browser's format, before the singular or the plural form. */
export function plural(count: number, one: string, many: string): string {
  return `${count.toLocaleString()} ${count === 1 ? one : many}`
}
