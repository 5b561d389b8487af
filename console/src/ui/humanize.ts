/** Turns a field name such as `amount_usd` into a label: "Amount (USD)". */
export function humanize(name: string): string {
  const words = name.replaceAll(/[_-]+/g, ' ').replaceAll(/([a-z])([A-Z])/g, '$1 $2')
  return words.charAt(0).toUpperCase() + words.slice(1).replace(/\busd\b/i, '(USD)')
}

/** Error messages of the server begin in lower case. */
export const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
