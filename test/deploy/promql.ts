/** The parts of a PromQL expression that depend on which metrics exist. */
export interface PromqlParts {
  metrics: { name: string; matchers: { label: string; operator: string; value: string }[] }[]
  /** Labels after `by`, which every metric of the expression must have. */
  groupedBy: string[]
  /** Labels after `ignoring` and `on`, which at least one of the metrics must have. */
  matchedBy: string[]
}

const FUNCTIONS = ['absent', 'clamp_max', 'histogram_quantile', 'increase', 'max', 'rate', 'sum']
const OPERATORS = ['and', 'or', 'unless']
const TOKEN = /"[^"]*"|\d+(?:\.\d+)?[smhd]?|[a-zA-Z_:][\w:]*|[=!]~|[=!<>]=|\S/g

/** Reads the expressions of dashboards and alerts. Throws for a word that is neither a metric nor a known function. */
export function readPromql(expression: string): PromqlParts {
  const tokens: string[] = expression.replaceAll('$__rate_interval', '5m').match(TOKEN) ?? []
  const parts: PromqlParts = { metrics: [], groupedBy: [], matchedBy: [] }
  for (let at = 0; at < tokens.length; at++) {
    const word = tokens[at] ?? ''
    if (!/^[a-zA-Z_:]/.test(word) || OPERATORS.includes(word)) continue
    if (word === 'by') parts.groupedBy.push(...readList(tokens, at + 1))
    else if (word === 'ignoring' || word === 'on') parts.matchedBy.push(...readList(tokens, at + 1))
    else if (tokens[at + 1] !== '(' && tokens[at + 1] !== 'by') parts.metrics.push(readMetric(tokens, at))
    else if (!FUNCTIONS.includes(word)) throw new Error(`unknown function ${word} in ${expression}`)
    if (word === 'by' || word === 'ignoring' || word === 'on') at = tokens.indexOf(')', at)
    else if (tokens[at + 1] === '{') at = tokens.indexOf('}', at)
  }
  return parts
}

/** The labels in the parentheses at this position. */
function readList(tokens: string[], at: number): string[] {
  return tokens.slice(at + 1, tokens.indexOf(')', at)).filter((token) => token !== ',')
}

function readMetric(tokens: string[], at: number): PromqlParts['metrics'][number] {
  const name = tokens[at] ?? ''
  if (tokens[at + 1] !== '{') return { name, matchers: [] }
  const inside = tokens.slice(at + 2, tokens.indexOf('}', at)).filter((token) => token !== ',')
  const matchers = Array.from({ length: inside.length / 3 }, (_, n) => {
    const [label = '', operator = '', value = ''] = inside.slice(n * 3)
    return { label, operator, value: value.slice(1, -1) }
  })
  return { name, matchers }
}
