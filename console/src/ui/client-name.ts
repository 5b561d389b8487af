import { uiText } from './text.ts'

const text = uiText.clientNames

/** The name of a client for people. Services that tell no name have addresses such as `slack:T1:U1`. */
export function clientName(name: string | null | undefined): string {
  if (!name) return text.unnamed
  const [, visitor] = /^visitor:([0-9a-f]{4})[0-9a-f]+$/i.exec(name) ?? []
  if (visitor) return text.visitor(visitor)
  const [, slack] = /^slack:[^:]+:([^:]+)$/i.exec(name) ?? []
  if (slack) return text.slack(slack.toUpperCase())
  const [, telegram] = /^telegram:(-?\d+)$/.exec(name) ?? []
  return telegram ? text.telegram(telegram) : name
}
