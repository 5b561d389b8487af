import type { CellLimits } from './driver.ts'

export const DEFAULT_LIMITS: CellLimits = {
  memory_mb: 512,
  processes: 64,
  file_mb: 64,
  tmp_mb: 64,
  cpu_s: 600,
  output_line_bytes: 1024 * 1024,
  stderr_bytes: 64 * 1024,
}
