/** What a row holds of a secret. `kid` is the fingerprint of the key that sealed it. */
export interface SecretEnvelope {
  v: 1
  kid: string
  iv: string
  tag: string
  ct: string
}

/** The one place where a sealed secret opens: an envelope that was moved to another row stays shut. */
export interface SecretLocation {
  projectId: string
  key: string
  connectionId: string
  kind: string
}

/** Seals and opens secrets; the key itself never leaves it. */
export interface Vault {
  /** Fingerprint of the key in use. */
  readonly kid: string
  /** True when the key was made up at start, so that nothing sealed survives a restart. */
  readonly ephemeral: boolean
  seal(value: string, place: SecretLocation): SecretEnvelope
  /** Throws a `SecretUnavailable` when the envelope was sealed by another key or belongs elsewhere. */
  open(envelope: SecretEnvelope, place: SecretLocation): string
  /** 32 bytes for another purpose, from which nobody learns the key itself. */
  deriveKey(purpose: string): Buffer
}

/** A secret that exists but cannot be used; the message says why and what to do, never the value. */
export class SecretUnavailable extends Error {}
