import { formatNumber, formatPercent } from '../../ui/format.ts'
import { plural } from '../../ui/plural.ts'

const limits = { max_amount_usd: 'Max amount (USD)', max_per_task: 'Max per task', max_per_day: 'Max per day' }
const knowledgeKinds: Record<string, string | undefined> = {
  note: 'Note',
  fact: 'Fact',
  correction: 'Correction',
  feedback: 'Feedback',
  answer: 'Answer',
  seed: 'Seed',
}
const views = { about: 'About', knowledge: 'Knowledge', intake: 'Intake', policy: 'Policy', manifest: 'Manifest' }

export const wedgesText = {
  title: 'Wedges',
  lead: 'A wedge defines what an agent can do, what it knows and when it asks for approval.',
  none: 'No wedges yet',
  noneHint: 'A wedge is a folder with a wedge.json. Add one to the wedges folder; it appears here automatically.',
  notEnabled: 'Not enabled',
  broken: 'Has errors',
  cannotBeUsed: 'This wedge cannot be used',
  cannotBeUsedHint: 'Correct these errors in the wedges folder. The wedge is read again when a file changes.',

  wedge: 'Wedge',
  run: 'Run',
  viewsLabel: 'Views of this wedge',
  views,
  taskTypes: 'Task types',
  agent: 'agent',
  connections: (names: string[]) => `Connections: ${names.join(', ')}`,
  skills: 'Skills',
  noSkills: 'No skills.',
  skillFiles: 'Files, read when they are needed',

  learned: 'Learned',
  addKnowledge: 'Add knowledge',
  liveKnowledge: 'Learned knowledge',
  version: (version: number) => `Version ${formatNumber(version)}`,
  authored: "From the wedge's files",
  noAuthored: 'No files.',
  nothingLearned: 'No learned knowledge yet',
  nothingLearnedHint: 'Answers, corrections and feedback are saved here and used from the next run on.',
  exampleKnowledge: 'We answer from 9 to 17, Monday to Friday.',
  editKnowledge: 'Edit knowledge',
  save: 'Save',
  saved: 'Saved. Used from the next run on.',
  name: 'Name',
  kind: 'Kind',
  knowledgeKind: (kind: string) => knowledgeKinds[kind] ?? kind,
  delete: 'Delete',
  deleted: 'Deleted',
  confirmDelete: (name: string) => `Delete ${name} and all its versions?`,
  itemViews: 'Views of this item',
  text: 'Text',
  textHint: 'Markdown',
  preview: 'Preview',
  previewHint: 'The formatted text appears here.',
  close: 'Close',
  versions: 'Versions',
  currentVersion: 'This is the current version.',
  changesSince: (version: number) => `Changes from version ${formatNumber(version)} to the current version`,
  restore: (version: number) => `Restore version ${formatNumber(version)}`,
  changes: 'Changes',

  coverage: 'Answered questions',
  answered: (share: number) => `${formatPercent(share)} answered`,
  noOpenQuestions: 'No open questions',
  openQuestions: 'Open questions',
  answerHint: 'Ask an operator to answer the questions.',
  closedQuestions: 'Answered and dismissed',
  questionStatus: { open: 'Open', answered: 'Answered', dismissed: 'Dismissed' },
  answer: 'Answer',
  dismiss: 'Dismiss',
  neededBy: (count: number) => `Needed ${plural(count, 'time', 'times')}`,

  requiresApproval: 'Requires approval',
  expiresAfter: (time: string) => `expires after ${time}`,
  rules: 'Auto-approve rules',
  rulesHint: 'The first matching rule applies. Simulate your changes on past requests before you save them.',
  simulateHint: 'Ask an operator to simulate other rules.',
  saveHint: 'Ask an admin to save other rules.',
  rulesOfWedge: 'Rules come from wedge.json.',
  rulesSaved: (version: number) => `Version ${formatNumber(version)}, saved for this project`,
  savedBy: (name: string) => `by ${name}`,
  saveRules: 'Save rules',
  confirmSaveRules: (count: number) =>
    count === 0
      ? 'Save without rules? From now on every request of this wedge needs an approval.'
      : `Save ${plural(count, 'rule', 'rules')}? From now on matching requests are sent without asking a person.`,
  rulesAreSaved: 'Saved. Applies from the next request on.',
  resetRules: "Reset to the wedge's rules",
  confirmResetRules: "Go back to the rules of the wedge's own folder? The saved versions stay in the history.",
  rulesAreReset: "The wedge's own rules apply again.",
  suggestions: 'Suggested rules',
  suggestion: {
    title: (action: string, count: number) =>
      `Your team approved ${plural(count, 'request', 'requests')} for ${action} unchanged. Let a rule approve such requests?`,
    rule: 'Rule',
    wouldPass: (count: number, sum: string | null, since: string) =>
      `It would have approved ${plural(count, 'request', 'requests')}${sum === null ? '' : `, ${sum} in total`}, since ${since}.`,
    covers: (covered: number, above: number, lowest: string) =>
      `It covers ${covered.toLocaleString()} of ${(covered + above).toLocaleString()}, not the ${above === 1 ? `${lowest} one` : `${above.toLocaleString()} from ${lowest} up`}.`,
    undecided: (count: number) =>
      `It would also have approved ${plural(count, 'expired request', 'expired requests')}.`,
    notCovered: (count: number) =>
      count === 0
        ? 'No request of this kind was rejected, sent back or edited.'
        : `It would have approved none of the ${plural(count, 'request', 'requests')} that people rejected, sent back or edited.`,
    examples: 'Examples',
    approvedExamples: 'Approved unchanged',
    aboveExamples: 'Approved, above the limit',
    amountHint: 'Larger amounts still need a person.',
    refusedExamples: 'Rejected, sent back or edited',
    save: 'Save as rule',
    confirm: (rule: string) => `Save this rule? From now on these requests are sent without asking a person: ${rule}.`,
    ask: 'Ask an admin to save this rule.',
  },
  noSuggestions: 'No rule is suggested for these actions',
  refusedAction: (action: string, reason: string) => `${action}: ${reason}.`,
  capped: (count: number) => `${formatNumber(count)} requests were read. Older approved and expired ones were not.`,
  addRule: 'Add rule',
  simulate: 'Simulate',
  copyRules: 'Copy for wedge.json',
  action: 'Action',
  limits,
  actions: 'Actions',
  inRule: (field: string, rule: number) => `${field} of rule ${rule}`,
  noLimit: 'No limit',
  removeRule: (rule: number) => `Remove rule ${rule}`,
  simulated: (checked: number, passed: number, gated: number) =>
    `${plural(checked, 'past request', 'past requests')}: ${formatNumber(passed)} auto-approved, ${formatNumber(gated)} would need approval`,
  pastRequests: 'Past requests',
  simulationColumns: ['Action', 'Actual', 'Simulated', 'Reason'],
  pass: 'Auto-approved',
  gate: 'Needs approval',

  taskType: 'Task type',
}
