/** A link cannot send the credential, so the bytes are fetched and then handed to the browser. */
export async function saveFile(answer: Promise<Response>, path: string): Promise<void> {
  const url = URL.createObjectURL(await (await answer).blob())
  const link = document.createElement('a')
  link.href = url
  link.download = path.split('/').at(-1) ?? path
  link.click()
  URL.revokeObjectURL(url)
}
