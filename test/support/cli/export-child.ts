import { isKlinesError } from '../../../src/candles/errors.js'
import { exportKlines } from '../../../src/engine/export.js'
import { onWarning } from '../events.js'

/** Exports BTCUSDT 15m of a synthetic tree up to a day as the user of this process; prints the rows, the warnings and any error. */
const [baseUrl, mirror, output, now, to] = process.argv.slice(2)
const warnings: string[] = []
const onEvent = onWarning(text => warnings.push(text))
const series = { symbols: ['BTCUSDT'], intervals: ['15m'] } as const
const request = { ...series, baseUrl, mirror, output, to, now: Number(now), onEvent }
try {
  const report = await exportKlines(request)
  console.log(JSON.stringify({ code: 'none', candles: report.files[0].candles, warnings }))
} catch (error) {
  if (!isKlinesError(error)) throw error
  const { code, message } = error
  console.log(JSON.stringify({ code, message, warnings }))
}
