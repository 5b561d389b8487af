import { Button } from './button.tsx'
import { uiText } from './text.ts'

/** Loads the next page of a list. */
export function ShowMore({
  query: { hasNextPage, isFetchingNextPage, fetchNextPage },
}: {
  query: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => Promise<unknown> }
}) {
  if (!hasNextPage) return null
  return (
    <Button className="self-center" disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
      {uiText.showMore}
    </Button>
  )
}
