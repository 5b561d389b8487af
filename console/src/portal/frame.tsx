import type { ReactNode } from 'react'

export function PortalFrame({ children, tall = false }: { children: ReactNode; tall?: boolean }) {
  const top = tall ? 'h-dvh' : 'min-h-dvh pt-[12vh]'
  return <main className={`mx-auto flex w-full max-w-xl flex-col gap-4 p-4 text-base ${top}`}>{children}</main>
}
