import { expect, test } from 'vitest'
import {
  counterFamily,
  toPrometheusText,
  gaugeFamily,
  histogramFamily,
} from '../../../src/insight/telemetry/prometheus-text.ts'

test('metrics are written in the text format of Prometheus', () => {
  const text = toPrometheusText([
    counterFamily('a_total', 'Things.', 3),
    gaugeFamily('b', 'By name.', [{ labels: { name: 'x"\\\n' }, value: 0.5 }]),
    gaugeFamily('nothing', 'Not there.', []),
    histogramFamily('h', 'Times.', [
      { labels: { of: 'x' }, histogram: { bounds: [0.1, 1], counts: [2, 1, 1], sum: 5.25 } },
    ]),
  ])
  expect(text).toBe(`# HELP a_total Things.
# TYPE a_total counter
a_total 3
# HELP b By name.
# TYPE b gauge
b{name="x\\"\\\\\\n"} 0.5
# HELP h Times.
# TYPE h histogram
h_bucket{of="x",le="0.1"} 2
h_bucket{of="x",le="1"} 3
h_bucket{of="x",le="+Inf"} 4
h_sum{of="x"} 5.25
h_count{of="x"} 4
`)
})
