/** How many combinations of labels one metric has at most. The deployment declares wedges and models, so few have more. */
export const MAX_LABEL_SETS = 200

/** Counts by labels, such as wedge and model. Only a limited number of combinations is kept apart. */
export class LabelledCounts<Labels extends Record<string, string>, Count> {
  readonly #others: Labels
  readonly #create: () => Count
  readonly #counts = new Map<string, { labels: Labels; count: Count }>()

  /** `others` are the labels of what comes after `MAX_LABEL_SETS` combinations. */
  constructor(others: Labels, create: () => Count) {
    this.#others = others
    this.#create = create
  }

  /** The count for these labels, which every caller gives in the same order. */
  at(labels: Labels): Count {
    const key = keyOf(labels)
    const known = this.#counts.get(key)
    if (known) return known.count
    if (this.#counts.size < MAX_LABEL_SETS) return this.#add(key, labels)
    const others = keyOf(this.#others)
    return this.#counts.get(others)?.count ?? this.#add(others, this.#others)
  }

  entries(): { labels: Labels; count: Count }[] {
    return [...this.#counts.values()]
  }

  #add(key: string, labels: Labels): Count {
    const count = this.#create()
    this.#counts.set(key, { labels, count })
    return count
  }
}

/** A wedge or model has no line break in its name. */
const keyOf = (labels: Record<string, string>): string => Object.values(labels).join('\n')
