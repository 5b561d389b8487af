/**
 * The models that the documentation, the console and `svc init` name, by provider. The providers have no names that stay
 * valid for good, so a test compares these with the list of deprecated models of Anthropic's library. OpenAI's has no such list.
 */
export const EXAMPLE_MODELS = {
  anthropic: 'claude-sonnet-5-5',
  openai: 'gpt-6.1-sol',
  openaiSmall: 'gpt-6-luna',
} as const
