import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Files that mostly wait: for leases, outages and other processes. Vitest runs projects with their own numbers of workers one
 * after another, so these files are spread among the others instead: whenever some workers wait, others use the cores.
 */
export const WAITING_FILES = [
  'test/faults/',
  'test/mail/',
  'test/clients/follow-faults',
  'test/model/',
  'test/package/launcher',
]

/** Files that take longest, which must not be the last to start. Other files are ordered by size. */
export const LONG_FILES = [
  'test/execution/sandbox/',
  'test/security/',
  'test/server/planes/',
  'test/frameworks/',
  'test/package/',
  'test/console/',
  'test/programs/cli/',
  'test/approvals/notifications/',
  'test/platform/store/both-stores/',
  'test/automation/schedules/',
  'test/conversations/',
  'test/clients/',
  'test/customers/channels/',
  'test/insight/analytics/',
  'test/identity/accounts/',
  'test/execution/runs/',
]

/** The waiting files are spread over this part of the order, so that none of them is left for the end. */
const PART_WITH_WAITING_FILES = 0.6

/** Starts slow files first. Vitest knows how long files take only from earlier runs, which a clean checkout does not have. */
export class SlowFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const waiting = sorted.filter((file) => isListed(file, WAITING_FILES))
    const others = sorted.filter((file) => !isListed(file, WAITING_FILES))
    const long = others.filter((file) => isListed(file, LONG_FILES))
    return spread(waiting, [...long, ...others.filter((file) => !isListed(file, LONG_FILES))])
  }
}

const isListed = ({ moduleId }: TestSpecification, list: readonly string[]) =>
  list.some((name) => moduleId.includes(`/${name}`))

/** Puts the waiting files at equal distances among the others. */
export function spread<File>(waiting: readonly File[], others: readonly File[]): File[] {
  const distance = (others.length * PART_WITH_WAITING_FILES) / Math.max(1, waiting.length)
  return others
    .flatMap((file, index) => [...waiting.slice(Math.ceil(index / distance), Math.ceil((index + 1) / distance)), file])
    .concat(waiting.slice(Math.ceil(others.length / distance)))
}
