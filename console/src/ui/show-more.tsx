import { Button } from './button.tsx'

/** The rest of a list, a page at a time, when the reader wants it. */
export function ShowMore({
  query: { hasNextPage, isFetchingNextPage, fetchNextPage },
}: {
  query: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => Promise<unknown> }
}) {
  if (!hasNextPage) return null
  return (
    <Button className="self-center" disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
      Show more
    </Button>
  )
}
