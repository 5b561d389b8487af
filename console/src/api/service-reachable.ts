/** Whether the service responds and can use its store. */
export async function isServiceReachable(signal?: AbortSignal): Promise<boolean> {
  return fetch('/health', { cache: 'no-store', ...(signal && { signal }) }).then(
    ({ ok }) => ok,
    () => false,
  )
}
