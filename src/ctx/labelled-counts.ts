/** How many combinations of labels one metric has at most. The deployment declares wedges and models, so few have more. */
export const MAX_LABEL_SETS = 200

/** The value of every label of what comes after `MAX_LABEL_SETS` combinations. */
const OTHER = 'other'

/** Counts by labels, such as wedge and model. Only a limited number of combinations is kept apart. */
export class LabelledCounts<Name extends string, Count> {
  readonly #names: readonly Name[]
  readonly #create: () => Count
  readonly #counts = new Map<string, { labels: Record<Name, string>; count: Count }>()

  constructor(names: readonly Name[], create: () => Count) {
    this.#names = names
    this.#create = create
  }

  /** The count for these values of the labels, in the order of their names. */
  at(...values: string[]): Count {
    // A wedge or model has no line break in its name.
    const key = values.join('\n')
    const known = this.#counts.get(key)
    if (known) return known.count
    if (this.#counts.size < MAX_LABEL_SETS) return this.#add(key, values)
    const rest = this.#names.map(() => OTHER)
    return this.#counts.get(rest.join('\n'))?.count ?? this.#add(rest.join('\n'), rest)
  }

  entries(): { labels: Record<Name, string>; count: Count }[] {
    return [...this.#counts.values()]
  }

  #add(key: string, values: readonly string[]): Count {
    const labels = Object.fromEntries(this.#names.map((name, i) => [name, values[i] ?? ''])) as Record<Name, string>
    const count = this.#create()
    this.#counts.set(key, { labels, count })
    return count
  }
}
