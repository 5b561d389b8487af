/** A sealed secret as it is stored. `kid` is the fingerprint of the key that sealed it. */
export interface SecretEnvelope {
  v: 1
  kid: string
  iv: string
  tag: string
  ct: string
}

/** The row that an envelope is sealed for: an envelope that was copied to another row cannot be opened. */
export interface SecretLocation {
  projectId: string
  key: string
  connectionId: string
  kind: string
}

/** Seals and opens secrets. The key is never returned. */
export interface Vault {
  /** Fingerprint of the key in use. */
  readonly kid: string
  /** True if the key was generated at the start, so that sealed secrets cannot be opened after a restart. */
  readonly ephemeral: boolean
  seal(value: string, location: SecretLocation): SecretEnvelope
  /** Throws `SecretUnavailable` if the envelope was sealed with another key or for another row. */
  open(envelope: SecretEnvelope, location: SecretLocation): string
  /** 32 bytes for another purpose. The key cannot be computed from them. */
  deriveKey(purpose: string): Buffer
}

/** A secret that exists but cannot be used; the message says why and what to do, never the value. */
export class SecretUnavailable extends Error {}
