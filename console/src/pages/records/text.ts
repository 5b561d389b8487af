export const recordsText = {
  title: 'Records',
  lead: 'Data your agents store between runs.',
  columns: ['Key', 'Collection', 'Value', 'Version', 'Updated'],
  wedge: 'Wedge',
  allWedges: 'All wedges',
  collection: 'Collection',
  conditions: 'Conditions (JSON)',
  conditionsExample: '{"status":"open","total.usd":{"$gte":5}}',
  filter: 'Filter',
  noMatch: 'No matching records',
  none: 'No records yet',
  noneHint: 'Agents store data here with their record tools. Your own code can use the API.',
}
