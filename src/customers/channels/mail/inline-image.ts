const MIN_INLINE_IMAGE_BYTES = 8 * 1024

/** Images that the text of a mail shows are left out if they are small: they are logos and counters. */
export const isInlineLogo = (contentType: string, size: number): boolean =>
  /^image\//i.test(contentType) && size < MIN_INLINE_IMAGE_BYTES
