import { type FlagsOf, pick } from './group.js'
import { locationFlags } from './location.js'
import { fetchFlags } from './network.js'
import { type OutputOptions, runFlags } from './run.js'

export const updateFlags = {
  ...locationFlags,
  ...fetchFlags,
  ...pick(runFlags, 'accept-list', 'fail-on-gaps', 'yes', 'dry-run', 'threads', 'progress', 'per-series'),
}

/** What `updateFlags` parse to. */
export type UpdateFlags = FlagsOf<typeof updateFlags> & OutputOptions
