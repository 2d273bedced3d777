import { type LocalEndpoint, SAMPLE } from '../http/base-url.js'

/** A base address as the library takes it, and how to end what was started for it. */
interface ServiceAddress {
  readonly baseUrl: string | LocalEndpoint | undefined
  close(): Promise<void>
}

/** The address a command sends requests to; `sample` starts the embedded server over the sample data, on a free port. */
export async function openAddress(baseUrl: string | undefined): Promise<ServiceAddress> {
  if (baseUrl !== SAMPLE) return offlineAddress(baseUrl)
  const { startSample } = await import('../server/sample.js')
  const sample = await startSample()
  return { baseUrl: sample, close: sample.close }
}

/** The same for a command that makes no request. */
export function offlineAddress(baseUrl: string | undefined): ServiceAddress {
  return { baseUrl: baseUrl === SAMPLE ? { name: SAMPLE, url: '' } : baseUrl, close: async () => {} }
}
