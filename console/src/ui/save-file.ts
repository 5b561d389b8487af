/** A plain link cannot send the Authorization header, so the file is fetched first and then saved. */
export async function saveFile(response: Promise<Response>, path: string): Promise<void> {
  const url = URL.createObjectURL(await (await response).blob())
  const link = document.createElement('a')
  link.href = url
  link.download = path.split('/').at(-1) ?? path
  link.click()
  URL.revokeObjectURL(url)
}
