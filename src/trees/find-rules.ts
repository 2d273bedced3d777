import { isExchange, SAMPLE } from '../http/base-url.js'
import { EXCHANGE_TREE } from './exchange-tree.js'
import { STATIC_TREE } from './static-tree.js'
import type { TreeRules } from './tree-rules.js'

/** A tree whose files are what they are: the sample gets no candle any more, and of a bare folder nothing else is known. */
const FIXED_TREE: TreeRules = { ...STATIC_TREE, trustsFileTimes: true }

/** The rules of the tree at a base address, as `toSourceName` writes it; undefined for a bare folder. */
export function findRules(baseUrl: string | undefined): TreeRules {
  if (isExchange(baseUrl)) return EXCHANGE_TREE
  return baseUrl === undefined || baseUrl === SAMPLE ? FIXED_TREE : STATIC_TREE
}
