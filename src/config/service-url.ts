import type { Config } from './config.ts'

/** The address of a path of this service, as others reach it. Without SVC_PUBLIC_URL only this machine can. */
export function serviceUrl(
  { publicUrl, host, port }: Pick<Config, 'publicUrl' | 'host' | 'port'>,
  path: string,
): string {
  const localUrl = `http://${host.includes(':') ? `[${host}]` : host}:${port}`
  return `${(publicUrl ?? localUrl).replace(/\/+$/, '')}${path}`
}
