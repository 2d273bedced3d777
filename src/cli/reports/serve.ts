import { SAMPLE_ROOT } from '../../server/sample.js'
import type { ServeObject } from './schema.js'

/** `serve`: the address, what is served there, and how to stop. */
export function describeServer({ url, mirror, baseUrl, sample, upstream, strict }: Omit<ServeObject, 'warnings'>) {
  const lines = [url]
  if (sample) lines.push('Serving synthetic sample data, not prices of any exchange.')
  else lines.push(`Serving ${mirror}${baseUrl === null ? '' : `, a mirror of ${baseUrl}`}.`)
  if (mirror === SAMPLE_ROOT)
    lines.push('klines download creates a mirror of real candles; --upstream downloads them on request.')
  if (upstream !== null) lines.push('Missing and open windows are downloaded from there on request.')
  if (strict) lines.push('The greeting API accepts only what the public instance accepts.')
  lines.push(`Open ${url}/ in a browser for charts, downloads and the API. Press Ctrl-C to stop.`)
  return lines.join('\n')
}
