import { type LocalEndpoint, SAMPLE } from '../http/base-url.js'

/** A base address as the library takes it, and how to end what was started for it. */
export interface Endpoint {
  readonly baseUrl: string | LocalEndpoint | undefined
  close(): Promise<void>
}

/** The address a command sends requests to; `sample` starts the embedded server over the sample data, on a free port. */
export async function startEndpoint(baseUrl: string | undefined): Promise<Endpoint> {
  if (baseUrl !== SAMPLE) return offlineEndpoint(baseUrl)
  const { startSample } = await import('../server/sample.js')
  const sample = await startSample()
  return { baseUrl: sample, close: sample.close }
}

/** The same for a command that makes no request. */
export function offlineEndpoint(baseUrl: string | undefined): Endpoint {
  return { baseUrl: baseUrl === SAMPLE ? { name: SAMPLE, url: '' } : baseUrl, close: async () => {} }
}
