import { consecutiveStartDates } from '../../../src/candles/windows.js'
import { manyWindows } from '../many-windows.js'
import { PRESENT, putFile } from '../synthetic-tree.js'
import { tempFolder } from '../temp-folder.js'
import type { CliSandbox } from './cli-sandbox.js'
import { startTreeServer } from './stocked-sandbox.js'

/** A server of a tree of many small windows, with a list of start dates that goes on to the present. */
export async function startManyWindows(sandbox: CliSandbox, tree = manyWindows(tempFolder())) {
  putFile(tree, 'api/klines/start-dates/15m.json', consecutiveStartDates('15m', '2018-01-01', PRESENT))
  return startTreeServer(sandbox, tree)
}
