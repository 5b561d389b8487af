export const filesText = {
  files: 'Files',
  preview: (name: string) => `Preview ${name}`,
  previewOf: (name: string) => `Preview of ${name}`,
  contentOf: (name: string) => `Content of ${name}`,
  download: (name: string) => `Download ${name}`,
  firstRows: (count: number) => `The first ${count} rows. Download the file to see all of them.`,
  close: 'Close',
  attach: 'Attach files',
  attached: 'Attached files',
  uploading: 'Uploading…',
  remove: (name: string) => `Remove ${name}`,
  failed: (name: string, problem: string) => `${name}: ${problem}`,
}
