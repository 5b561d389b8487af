/** The texts of errors that the server does not explain. */
export const apiText = {
  wrongKey: 'This API key is unknown or was revoked.',
  unreachable: 'The service cannot be reached',
  unexpectedStatus: (status: number) => `The service responded with status ${status}`,
}
