import { type LocalEndpoint, SAMPLE, toSourceName } from '../http/base-url.js'
import type { ProgressWords } from './terminal/progress-text.js'

/** A base address as the library takes it. */
export type BaseAddress = string | LocalEndpoint | undefined

/**
 * Calls `work` with the address that a command sends requests to. For `sample`, that is the embedded server over the sample data, on a
 * free port, until `work` ends; with `offline`, no server is started.
 */
export async function withAddress<T>(
  baseUrl: string | undefined,
  work: (baseUrl: BaseAddress) => Promise<T>,
  { offline = false } = {},
): Promise<T> {
  if (baseUrl !== SAMPLE || offline) return work(offlineAddress(baseUrl))
  const { startSample } = await import('../server/sample.js')
  const sample = await startSample()
  try {
    return await work(sample)
  } finally {
    await sample.close()
  }
}

/** The address of a command that makes no request. */
export function offlineAddress(baseUrl: string | undefined): BaseAddress {
  return baseUrl === SAMPLE ? { name: SAMPLE, url: '' } : baseUrl
}

/** How the progress of a download from an address is told. */
export function downloadingFrom(baseUrl: BaseAddress): ProgressWords {
  return { start: `Fetching lists from ${toSourceName(baseUrl)}`, verb: 'Downloading', noun: 'window' }
}
