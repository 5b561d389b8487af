import { formatNumber } from '../../ui/format.ts'

export const blueprintsText = {
  title: 'Blueprints',
  lead: 'Ready-made services with a setup checklist.',
  none: 'No blueprints yet',
  noneHint:
    'A blueprint describes a service: a wedge with its connections, schedules and knowledge. Add a JSON file to the blueprints folder.',
  active: 'Active',
  setUp: 'Set up',
  setUpDone: 'Setup complete. Existing items were left unchanged.',
  activate: 'Activate',
  missing: (lines: string[]) => `Before you can activate it: ${lines.join('; ')}.`,
  activated: (title: string) => `${title} is live`,
  adminHint: 'Ask an admin to set it up.',
  rules: 'Without an approval',
  noRules: 'Every action needs an approval.',
  ready: 'Everything is ready',
  progress: (done: number, all: number) => `${formatNumber(done)} of ${formatNumber(all)} done`,
  checklist: 'Setup checklist',
  warnings: 'Warnings',
  done: 'Done',
  open: 'To do',
  /** The button of an open item, by the item's kind. */
  fixes: {
    wedge: 'Enable',
    provision: 'Set up',
    connection: 'Create',
    config: 'Fill in',
    secret: 'Set secret',
    authorisation: 'Authorise',
    schedule: 'Create',
  } as Record<string, string | undefined>,
  fix: 'Fix',
  fixFor: (item: string) => ` for ${item}`,
  fixDialog: (fix: string, item: string) => `${fix}: ${item}`,
  save: 'Save',
}
