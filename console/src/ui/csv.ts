/** Parses CSV text (RFC 4180) up to a number of rows. Semicolons and tabs are recognised as separators too. */
export function parseCsv(text: string, maxRows: number): string[][] {
  const separator = detectSeparator(text)
  const rows: string[][] = []
  let row: string[] = []
  let cell = ''
  let isQuoted = false
  for (let at = 0; at < text.length && rows.length < maxRows; at++) {
    const char = text[at]
    if (isQuoted) {
      if (char !== '"') cell += char
      else if (text[at + 1] === '"') cell += text[++at]
      else isQuoted = false
    } else if (char === '"' && cell === '') isQuoted = true
    else if (char === separator) {
      row.push(cell)
      cell = ''
    } else if (char === '\n') {
      rows.push([...row, cell.replace(/\r$/, '')])
      row = []
      cell = ''
    } else cell += char
  }
  if ((cell !== '' || row.length > 0) && rows.length < maxRows) rows.push([...row, cell])
  return rows
}

function detectSeparator(text: string): string {
  const [firstLine = ''] = text.split('\n', 1)
  const counts = [',', ';', '\t'].map((one) => [firstLine.split(one).length, one] as const)
  return counts.reduce((best, one) => (one[0] > best[0] ? one : best))[1]
}
