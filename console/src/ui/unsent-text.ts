/** What is left of a field when the text has been sent: what was typed meanwhile. */
export function withoutSent(typed: string, sent: string): string {
  const text = typed.trimStart()
  return text.startsWith(sent) ? text.slice(sent.length).trimStart() : typed
}
