import { toSourceName } from '../http/base-url.js'
import type { ProgressWords } from './terminal/progress-text.js'

/** How the progress of a download from an address is told. */
export function downloadingFrom(baseUrl: string | undefined): ProgressWords {
  return { start: `Fetching lists from ${toSourceName(baseUrl)}`, verb: 'Downloading', noun: 'window' }
}
