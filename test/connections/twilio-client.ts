import twilio from 'twilio'

/** The vendor's client. It has no setting for the address, so its requests are sent to the recorder. */
export function twilioClientAt(url: string, account: string, secret: string) {
  class Recorded extends twilio.RequestClient {
    override request<T>(options: Parameters<InstanceType<typeof twilio.RequestClient>['request']>[0]) {
      return super.request<T>({ ...options, uri: options.uri.replace('https://api.twilio.com', url) } as never)
    }
  }
  return twilio(account, secret, { httpClient: new Recorded() })
}
