import { manyRows, manyWindows } from '../many-windows.js'
import { putFile } from '../synthetic-tree.js'
import { tempFolder } from '../temp-folder.js'
import type { CliSandbox } from './cli-sandbox.js'
import { startTreeServer } from './stocked-sandbox.js'

/** A server of a tree of many small windows, with the list of their start dates. */
export async function startManyWindows(sandbox: CliSandbox, tree = manyWindows(tempFolder())) {
  const dates = manyRows('BTCUSDT').map(([[openTime]]) => new Date(openTime).toISOString().slice(0, 10))
  putFile(tree, 'api/klines/start-dates/15m.json', dates)
  return startTreeServer(sandbox, tree)
}
