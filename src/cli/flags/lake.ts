import * as Flags from '@oclif/core/flags'
import { LAYOUTS, PARTITIONS, TABLES } from '../../lake/layout.js'
import { inGroup } from './group.js'

/** A lake, a folder of Parquet files that stays current, instead of files. */
export const lakeFlags = inGroup('output', {
  layout: Flags.option({
    summary:
      'Keep a lake in the folder of -o up to date: Parquet files such as symbol=BTCUSDT/interval=1h/part-0.parquet.',
    options: LAYOUTS,
    helpValue: 'LAYOUT',
  })(),
  partition: Flags.option({
    summary: 'With --layout, split each series by year or month. Default: none.',
    options: PARTITIONS,
    helpValue: 'SPAN',
  })(),
  table: Flags.option({
    summary: 'With --layout, keep a Delta Lake log beside the parts: engines see whole versions, also old ones.',
    options: TABLES,
    helpValue: 'KIND',
  })(),
  vacuum: Flags.string({
    summary: 'With --table delta, remove the files of versions that were replaced longer ago: 7d.',
    helpValue: 'AGE',
  }),
  prune: Flags.boolean({
    summary: 'With --layout, remove the series that are not requested.',
  }),
})
