export const approvalPath = (approvalId: string) => `/v1/approvals/${encodeURIComponent(approvalId)}`
