/** The package has no types. */
declare module 's3rver' {
  import type { AddressInfo } from 'node:net'

  interface KoaContext {
    method: string
    query: Record<string, string>
    headers: Record<string, string>
    status: number
  }

  export default class S3rver {
    constructor(options: {
      address: string
      port: number
      silent: boolean
      directory: string
      configureBuckets: { name: string; configs: string[] }[]
    })
    /** The middleware of Koa, in its order. */
    middleware: ((ctx: KoaContext, next: () => unknown) => unknown)[]
    run(): Promise<AddressInfo>
    close(): Promise<void>
  }
}
