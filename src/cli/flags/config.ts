import * as Flags from '@oclif/core/flags'

/** Which config file. */
export const localFlag = Flags.boolean({
  summary: "The file of the working folder, ./klines.config.json, instead of the user's.",
  env: 'KLINES_LOCAL',
})
