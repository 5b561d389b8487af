/** A name from a payload as people would write it. */
export function humanize(name: string): string {
  const words = name.replaceAll(/[_-]+/g, ' ').replaceAll(/([a-z])([A-Z])/g, '$1 $2')
  return words.charAt(0).toUpperCase() + words.slice(1).replace(/\busd\b/i, '(USD)')
}
