import { readSetting, type SettingsEnv } from '../contract/settings.ts'
import { parseHttpUrl } from './read-setting.ts'

/** The object store for files. The keys are read where a request is signed. */
export interface S3Config {
  /** The address of the bucket. The bucket is in the path, which every S3 server understands. */
  bucketUrl: string
  /** The host, if the operator named it: it may be private. */
  trustedHost: string | null
  /** What the keys of objects start with: empty, or ending with a slash. */
  prefix: string
  region: string
}

/** Null without SVC_FILES: then files are in the database. */
export function readS3Config(env: SettingsEnv): S3Config | null {
  if (!env.SVC_FILES) return null
  const target = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([A-Za-z0-9._/-]*))?$/.exec(env.SVC_FILES)
  if (!target || /(?:^|\/)\.{1,2}(?:\/|$)|\/\//.test(target[2] ?? ''))
    throw new Error('SVC_FILES must be s3://BUCKET or s3://BUCKET/PREFIX')
  for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'])
    if (!readSetting(env, name)) throw new Error(`${name} is required when SVC_FILES is set`)
  const region = env.AWS_REGION || 'us-east-1'
  const endpoint = env.SVC_S3_ENDPOINT && parseHttpUrl('SVC_S3_ENDPOINT', env.SVC_S3_ENDPOINT)
  const base = endpoint ? `${endpoint.origin}${endpoint.pathname}` : `https://s3.${region}.amazonaws.com`
  const prefix = (target[2] ?? '').replace(/\/$/, '')
  return {
    bucketUrl: `${base.replace(/\/$/, '')}/${target[1]}`,
    trustedHost: endpoint ? endpoint.hostname : null,
    prefix: prefix && `${prefix}/`,
    region,
  }
}
