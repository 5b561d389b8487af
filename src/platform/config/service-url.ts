import type { Config } from './config.ts'
import { removeTrailingSlashes } from '../base/text.ts'

/** The address of a path of this service, as others reach it. Without SVC_PUBLIC_URL only this machine can. */
export function serviceUrl(
  { publicUrl, host, port, chosenPort = port }: Pick<Config, 'publicUrl' | 'host' | 'port' | 'chosenPort'>,
  path: string,
): string {
  const localUrl = `http://${host.includes(':') ? `[${host}]` : host}:${chosenPort}`
  return `${removeTrailingSlashes(publicUrl ?? localUrl)}${path}`
}
