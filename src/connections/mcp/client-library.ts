/**
 * The parts of the MCP client package that the service uses. They are a bundle of their own, because loading them takes
 * 0.1 s, which most starts of the service do not need.
 */
export {
  auth,
  Client,
  ProtocolError,
  SdkHttpError,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client'
