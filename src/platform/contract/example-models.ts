/**
 * The models that the documentation, the console and `svc init` name. The providers have no names that stay valid for good,
 * so a test compares these with the list of deprecated models of Anthropic's library. OpenAI's library has no such list.
 */
export const EXAMPLE_MODELS = {
  anthropic: 'claude-sonnet-5-5',
  openai: 'gpt-6.1-sol',
  openaiSmall: 'gpt-6-luna',
} as const

/** The lines of a new settings file that choose a model, without effect until somebody removes the marks of a comment. */
export const EXAMPLE_MODEL_SETTINGS = [
  '# Without a model, recorded runs are played.',
  `# SVC_MODEL=anthropic/${EXAMPLE_MODELS.anthropic}`,
  '# ANTHROPIC_API_KEY=',
].join('\n')
