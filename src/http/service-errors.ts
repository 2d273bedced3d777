import { KlinesError } from '../klines/errors.js'

/** The error for a service that does not answer, or answers as something else. */
export function unreachable(baseUrl: string, why: string, cause?: unknown): KlinesError {
  return new KlinesError('unreachable', `The service at ${baseUrl} cannot be reached: ${why}.`, {
    cause,
    suggestions: [
      'Check the network and `baseUrl`; `startSample()` tries everything out with made candles and no network.',
      'klines export works offline with what the mirror holds.',
    ],
    data: { baseUrl },
  })
}

/** The error for a service that refuses requests until a time, ms UTC. */
export function rateLimited(baseUrl: string, status: number, untilTime: number, advice: string): KlinesError {
  const until = new Date(untilTime).toISOString().replace(/\.\d+Z$/, 'Z')
  const message = `${baseUrl} answered ${status} and asks to stay away until ${until}.`
  return new KlinesError('rate_limited', message, { suggestions: [advice], data: { status, until } })
}
