import { SAMPLE_ROOT } from '../../server/sample.js'
import type { ServeObject } from './schema.js'

/** `serve`: the address, what is served there, and how to stop. */
export function describeServer({ url, mirror, baseUrl, sample, upstream, strict }: Omit<ServeObject, 'warnings'>) {
  const lines = [url]
  if (sample) lines.push('Serving the sample: these are MADE candles, not of any exchange.')
  else lines.push(`Serving ${mirror}${baseUrl === null ? '' : `, a mirror of ${baseUrl}`}.`)
  if (mirror === SAMPLE_ROOT)
    lines.push('klines download makes a mirror of real ones; --upstream fetches them as asked.')
  if (upstream !== null) lines.push('What is missing or not final is fetched from there when it is asked for.')
  if (strict) lines.push('The greeting API takes only what the public instance takes.')
  lines.push(`What there is, and how to ask: ${url}/ in a browser. Ctrl-C ends the server.`)
  return lines.join('\n')
}
