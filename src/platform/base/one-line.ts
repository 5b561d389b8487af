/** A text in one line, without characters that are invisible or change the direction of what follows. */
export const oneLine = (text: string): string => text.replaceAll(/[\p{C}\s]+/gu, ' ').trim()
