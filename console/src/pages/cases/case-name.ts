import type { Case } from '../../api/case-queries.ts'

/** The title of a case, or the end of its id. */
export const caseName = ({ title, id }: Pick<Case, 'title' | 'id'>): string => title || id.slice(-8)
