/**
 * The parts of the MCP client package that the service uses. They are a bundle of their own, because loading them takes
 * 0.1 s, which most starts of the service do not need.
 */
export {
  checkResourceAllowed,
  Client,
  deserializeMessage,
  discoverOAuthServerInfo,
  extractWWWAuthenticateParams,
  ProtocolError,
  registerClient,
  resourceUrlFromServerUrl,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
