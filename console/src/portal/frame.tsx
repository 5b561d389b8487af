import type { ReactNode } from 'react'
import { usePortalText } from './language.tsx'
import type { PortalBrand } from './portal-api.ts'

/** What the header and the sign-in pages show of a brand. */
export type ShownBrand = Pick<PortalBrand, 'name' | 'logo_url' | 'welcome'>

/** A page with one card in the middle, for signing in. */
export function PortalCard({ brand, children }: { brand: ShownBrand; children: ReactNode }) {
  return (
    <main className="flex min-h-dvh flex-col items-center gap-6 px-4 pt-[10vh] pb-8 text-[0.9375rem]">
      <BrandMark brand={brand} large />
      <div className="panel flex w-full max-w-md flex-col gap-4 p-6 shadow-sm">{children}</div>
    </main>
  )
}

/** The logo with the name, or only the name. */
export function BrandMark({ brand, large = false }: { brand: ShownBrand; large?: boolean }) {
  const text = usePortalText()
  const name = brand.name ?? text.portal
  return (
    <div className={`flex min-w-0 items-center gap-3 font-semibold ${large ? 'text-xl' : 'text-base'}`}>
      {brand.logo_url ? (
        <img src={brand.logo_url} alt="" className={`max-w-40 object-contain ${large ? 'h-12' : 'h-8'}`} />
      ) : (
        <span
          aria-hidden
          className={`grid shrink-0 place-items-center rounded-lg bg-accent text-on-accent ${large ? 'size-11' : 'size-8'}`}
        >
          {Array.from(name)[0]?.toUpperCase()}
        </span>
      )}
      <span className="truncate">{name}</span>
    </div>
  )
}

export function Alert({ children }: { children: ReactNode }) {
  return (
    <p role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-bad">
      {children}
    </p>
  )
}
