import type { LocalEndpoint } from '../http/base-url.js'
import { SAMPLE, startSample } from '../server/sample.js'

export { SAMPLE }

/** A base address as it is used, and how to end what was started for it. */
export interface Endpoint {
  readonly baseUrl: string | LocalEndpoint | undefined
  close(): Promise<void>
}

/** The address a command talks to; `sample` starts the embedded server over the made candles, on a free port. */
export async function startEndpoint(baseUrl: string | undefined): Promise<Endpoint> {
  if (baseUrl !== SAMPLE) return offlineEndpoint(baseUrl)
  const sample = await startSample()
  return { baseUrl: sample, close: sample.close }
}

/** The same for a command that talks to nobody. */
export function offlineEndpoint(baseUrl: string | undefined): Endpoint {
  return { baseUrl: baseUrl === SAMPLE ? { name: SAMPLE, url: '' } : baseUrl, close: async () => {} }
}
