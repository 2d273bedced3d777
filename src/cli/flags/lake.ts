import * as Flags from '@oclif/core/flags'
import { LAYOUTS, type Layout, PARTITIONS, type Partition } from '../../lake/layout.js'
import { inGroup } from './group.js'

/** A Parquet data set instead of files. */
export const lakeFlags = inGroup('output', {
  layout: Flags.option({
    summary: 'Keep a Parquet data set in the folder of -o up to date: symbol=BTCUSDT/interval=1h/part-0.parquet.',
    options: LAYOUTS,
    helpValue: 'LAYOUT',
    env: 'KLINES_LAYOUT',
  })(),
  partition: Flags.option({
    summary: 'With --layout, split each series by year or month. Default: none.',
    options: PARTITIONS,
    helpValue: 'SPAN',
    env: 'KLINES_PARTITION',
  })(),
  prune: Flags.boolean({
    summary: 'With --layout, remove the series that are not requested.',
    env: 'KLINES_PRUNE',
  }),
})

/** What `lakeFlags` parse to. */
export interface LakeFlags {
  layout?: Layout | undefined
  partition?: Partition | undefined
  prune?: boolean | undefined
}
