import { existsSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { hasRealTree, realTree } from '../support/oracles/real-tree.js'
import { useRunFolder } from '../support/run-folder.js'
import { type Build, THIS_BUILD, versions } from './programs.js'
import { measureRow, type Result } from './row.js'
import { exportRows } from './rows/exports.js'
import { otherRows } from './rows/others.js'
import { measureScale } from './scale.js'
import { measureServer } from './serve.js'
import { buildTable, peerTable } from './table.js'
import { serveTree } from './tree-server.js'

const USAGE = `usage: npm run bench -- [--rounds N] [--against DIR] [NAME...]
  NAME           csv, gzip, snappy, all, lake, memory, verify, again, help, chart, download; default: all of them
  --against DIR  beside an earlier build, a checkout or package, instead of the peers
  --rounds N     how often each program runs; default: 5
       npm run bench -- serve    a server with many clients
       npm run bench -- scale    millions of candles, beside half of them`

async function main(): Promise<void> {
  const options = { rounds: { type: 'string' }, against: { type: 'string' } } as const
  const { values, positionals: names } = parseArgs({ allowPositionals: true, options })
  const rounds = Number(values.rounds ?? 5)
  if (!(rounds > 0)) throw new Error(USAGE)
  const load = loadavg()[0].toFixed(1)
  if (names[0] === 'scale') console.log(await measureScale(values.rounds ? rounds : 3))
  else if (!hasRealTree) return
  else if (names[0] === 'serve') console.log(await measureServer())
  else console.log(await measureRows(names, rounds, values.against))
  const cores = availableParallelism()
  console.log(`\nMedians. ${versions()}, ${cores} processors, load ${load} before.`)
  console.log(`Took ${Math.round(performance.now() / 1000)} s.`)
}

/** Measures the rows of these names, or all, and returns the table. */
async function measureRows(names: readonly string[], rounds: number, against?: string): Promise<string> {
  const server = await serveTree(realTree())
  try {
    const rows = [...exportRows(), ...otherRows(server)]
    if (names.some(name => !rows.some(row => row.name === name))) throw new Error(USAGE)
    const earlier: Build | undefined = against ? { name: 'earlier', folder: resolve(against) } : undefined
    if (earlier && !existsSync(join(earlier.folder, 'bin/run.js'))) throw new Error(`${against} has no bin/run.js.`)
    const results: Result[] = []
    for (const row of rows.filter(({ name }) => names.length === 0 || names.includes(name))) {
      console.error(row.title)
      try {
        results.push(await measureRow(row, rounds, THIS_BUILD, earlier))
      } catch (error) {
        // The other rows are still worth printing.
        console.error(`${row.title} failed: ${(error as Error).message}`)
        process.exitCode = 1
      }
    }
    return earlier ? buildTable(results) : peerTable(results)
  } finally {
    server.stop()
  }
}

const removeFolder = useRunFolder()
try {
  await main()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
} finally {
  await removeFolder()
}
